// Hands one mail at a time to a mail server (RFC 5321) over libcurl. Proxies, .netrc and every
// protocol but SMTP are out of its reach.
#pragma once

#include "base/secret.hpp"
#include "net/mail_message.hpp"

#include <cstdint>
#include <string>

namespace muster::net {

enum class SmtpTls : std::uint8_t {
    None,     // never STARTTLS
    Try,      // STARTTLS where it is offered; with a user, only over TLS
    Require,  // no mail without
};

struct SmtpSettings {
    std::string url;  // smtp://host:port or smtps://host:port
    std::string from;
    std::string user;  // "" = no sign-in
    Secret password;
    SmtpTls tls = SmtpTls::Try;
    std::string ca_file;  // PEM; "" = the system's
    int connect_seconds = 5;
    int reply_seconds = 10;  // for any one answer, that to QUIT included
    int total_seconds = 15;
};

enum class SmtpResult : std::uint8_t {
    Sent,      // the server has taken it over
    TryAgain,  // 4xx, no connection, no sign-in, TLS that failed: may pass, or be mended by the
               // operator
    Refused,   // 5xx for this mail, or a mail that cannot be written: will not pass
};

struct SmtpOutcome {
    SmtpResult result = SmtpResult::TryAgain;
    std::string reason;  // for the log: no address, no content, no text of the server's
};

// A connection for each mail: they are rare, and a server drops idle ones soon. For one thread.
class SmtpSender {
  public:
    explicit SmtpSender(SmtpSettings settings);

    // Takes total_seconds at most, and reply_seconds to say goodbye. A mail whose answer was lost
    // in between is TryAgain and may arrive twice.
    [[nodiscard]] SmtpOutcome send(const MailMessage& message) const;

  private:
    SmtpSettings settings_;
};

}  // namespace muster::net
