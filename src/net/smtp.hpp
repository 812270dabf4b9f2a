// Sends one mail at a time to a mail server (RFC 5321) over libcurl. Proxies, .netrc and protocols
// other than SMTP are disabled.
#pragma once

#include "base/secret.hpp"
#include "net/mail_message.hpp"

#include <cstdint>
#include <string>

namespace muster::net {

enum class SmtpTls : std::uint8_t {
    None,     // never use STARTTLS
    Try,      // use STARTTLS if offered; with a user, require TLS
    Require,  // require TLS
};

struct SmtpSettings {
    std::string url;  // smtp://host:port or smtps://host:port
    std::string from;
    std::string user;  // "" = no sign-in
    Secret password;
    SmtpTls tls = SmtpTls::Try;
    std::string ca_file;  // PEM; "" = the system's
    int connect_seconds = 5;
    int reply_seconds = 10;  // for each reply, including the reply to QUIT
    int total_seconds = 15;
};

enum class SmtpResult : std::uint8_t {
    Sent,      // the server accepted the mail
    TryAgain,  // 4xx, connection, sign-in or TLS failure: temporary, or the operator can fix it
    Refused,   // 5xx for this mail, or an invalid mail: permanent
};

struct SmtpOutcome {
    SmtpResult result = SmtpResult::TryAgain;
    std::string reason;  // for the log: no address, no content, no text from the server
    // The server's last reply to the mail, as it came, at most 512 bytes. It may hold addresses,
    // so it is not for the log. Replies to AUTH and QUIT are left out.
    std::string answer;
};

// Opens a connection for each mail: mails are rare, and servers close idle connections soon. For
// one thread.
class SmtpSender {
  public:
    explicit SmtpSender(SmtpSettings settings);

    // Takes at most total_seconds, plus reply_seconds for QUIT. If the reply to the mail is lost,
    // the result is TryAgain, and the mail may arrive twice.
    [[nodiscard]] SmtpOutcome send(const MailMessage& message) const;

  private:
    SmtpSettings settings_;
};

}  // namespace muster::net
