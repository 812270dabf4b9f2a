// A mail as it goes over the wire (RFC 5322, MIME): pure text, nothing is sent here.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <string>
#include <string_view>

namespace muster::net {

struct MailMessage {
    MailId id;  // of Message-ID: a mail that is sent again is the same mail
    std::string to;
    std::string subject;  // UTF-8
    std::string text;     // UTF-8, lines end with \n or \r\n
    Timestamp date;
};

// What follows the last '@'.
[[nodiscard]] std::string_view domain_of(std::string_view address);

// Head and body with CRLF, no line over 998 bytes, ASCII only, save an address that is not (RFC
// 6532). Throws std::invalid_argument, without a word of the content, where the address or the
// subject could write a header line of its own, or the address is none.
[[nodiscard]] std::string compose(const MailMessage& message, std::string_view from);

}  // namespace muster::net
