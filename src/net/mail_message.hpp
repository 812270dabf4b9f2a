// Formats a mail for sending (RFC 5322, MIME). Pure text; net/smtp.hpp sends it.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <string>
#include <string_view>

namespace muster::net {

struct MailMessage {
    MailId id;  // for Message-ID: the same at each attempt
    std::string to;
    std::string subject;  // UTF-8
    std::string text;     // UTF-8, lines end with \n or \r\n
    Timestamp date;
};

// The part after the last '@'.
[[nodiscard]] std::string_view domain_of(std::string_view address);

// Returns head and body with CRLF line ends and at most 998 bytes per line. ASCII only, except in a
// non-ASCII address (RFC 6532). Throws std::invalid_argument if an address is invalid, or if an
// address or the subject contains a control character. The exception does not quote the content.
[[nodiscard]] std::string compose(const MailMessage& message, std::string_view from);

}  // namespace muster::net
