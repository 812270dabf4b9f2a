#include "net/mail_message.hpp"

#include "base/email.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>

namespace muster::net {
namespace {

constexpr std::size_t kBodyLine = 76;  // RFC 2045, 6.7
// The length of an encoded word without its frame: the first one fits in a line of 76 characters
// after "Subject: " (RFC 2047, 2).
constexpr std::size_t kWordBytes = 54;
constexpr std::size_t kPlainSubject = 66;

bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

std::string escaped(char c) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    return {'=', kDigits[byte >> 4U], kDigits[byte & 0x0fU]};
}

void check_address(std::string_view address) {
    const auto at = address.rfind('@');
    const bool is_whole = at != std::string_view::npos && at > 0 && at + 1 < address.size() &&
                          address.size() <= kLongestEmail;
    // Only a quoted local part may contain a space.
    const bool may_hold_space = address.starts_with('"');
    const bool is_safe = std::none_of(address.begin(), address.end(), [&](char c) {
        return is_control(c) || c == '<' || c == '>' || (c == ' ' && !may_hold_space);
    });
    if (!is_whole || !is_safe) throw std::invalid_argument("the address is not valid");
}

// The next code point of valid UTF-8; one byte of any other text.
std::string_view next_character(std::string_view text) {
    std::size_t length = 1;
    while (length < text.size() && length < 4 &&
           (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        ++length;
    }
    return text.substr(0, length);
}

std::string encoded_character(std::string_view character) {
    std::string text;
    for (const char c : character) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text += is_plain ? std::string(1, c) : c == ' ' ? "_" : escaped(c);
    }
    return text;
}

// A short plain ASCII subject is unchanged. Any other is split into encoded words between
// characters.
std::string subject_line(std::string_view subject) {
    // Only these could end the header. Others are encoded, in a name from before they were
    // rejected.
    if (std::ranges::any_of(subject, is_control))
        throw std::invalid_argument("control character in the subject");
    if (subject.size() <= kPlainSubject && subject.find("=?") == std::string_view::npos &&
        std::all_of(subject.begin(), subject.end(), is_printable)) {
        return std::string(subject);
    }
    std::string line;
    std::string word;
    const auto close_word = [&] {
        line.append(line.empty() ? "" : "\r\n ").append("=?UTF-8?Q?").append(word).append("?=");
        word.clear();
    };
    while (!subject.empty()) {
        const std::string_view character = next_character(subject);
        const std::string encoded = encoded_character(character);
        if (word.size() + encoded.size() > kWordBytes) close_word();
        word += encoded;
        subject.remove_prefix(character.size());
    }
    close_word();
    return line;
}

// Appends one line of the body, given without its line end, with soft line breaks.
void append_quoted_line(std::string& to, std::string_view line) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool is_last = i + 1 == line.size();
        const bool is_plain =
            (is_printable(c) && c != '=' && (c != ' ' || !is_last)) || (c == '\t' && !is_last);
        const std::string piece = is_plain ? std::string(1, c) : escaped(c);
        if (column + piece.size() > kBodyLine - 1) {
            to += "=\r\n";
            column = 0;
        }
        to += piece;
        column += piece.size();
    }
    to += "\r\n";
}

std::string quoted_printable(std::string_view text) {
    std::string quoted;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        append_quoted_line(quoted, line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return quoted;
}

// Returns for example "Sat, 21 Nov 2026 10:00:00 +0000". Always in English.
std::string date_line(Timestamp date) {
    constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds = date.milliseconds() / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 24> clock{};
    std::strftime(clock.data(), clock.size(), " %Y %H:%M:%S +0000", &parts);
    const std::string day = (parts.tm_mday < 10 ? "0" : "") + std::to_string(parts.tm_mday);
    return std::string(kDays[static_cast<std::size_t>(parts.tm_wday)]) + ", " + day + " " +
           kMonths[static_cast<std::size_t>(parts.tm_mon)] + clock.data();
}

}  // namespace

std::string_view domain_of(std::string_view address) {
    return address.substr(address.rfind('@') + 1);
}

std::string compose(const MailMessage& message, std::string_view from) {
    check_address(from);
    check_address(message.to);
    std::string text;
    const auto header = [&text](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\r\n");
    };
    header("From", "<" + std::string(from) + ">");
    header("To", "<" + message.to + ">");
    header("Subject", subject_line(message.subject));
    header("Date", date_line(message.date));
    header("Message-ID", "<" + message.id.text() + "@" + std::string(domain_of(from)) + ">");
    header("Auto-Submitted", "auto-generated");  // suppresses automatic replies (RFC 3834)
    header("MIME-Version", "1.0");
    header("Content-Type", "text/plain; charset=utf-8");
    header("Content-Transfer-Encoding", "quoted-printable");
    return text + "\r\n" + quoted_printable(message.text);
}

}  // namespace muster::net
