// net/mail_message.hpp: a mail is refused, or it has exactly its own header fields, lines that a
// server accepts, and the text that was given. Input: recipient, sender and subject, a line each,
// then the text.
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "net/mail_message.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace muster;
using fuzz::must;

namespace {

constexpr std::size_t kFields = 9;
constexpr std::size_t kLongestLine = 998;  // RFC 5322 section 2.1.1
constexpr std::size_t kLongestBodyLine = 76;

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

// The next line, without its CRLF. No line contains another line end.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = text.find("\r\n");
    must(end != std::string_view::npos && end <= kLongestLine);
    const std::string_view line = text.substr(0, end);
    must(line.find_first_of("\r\n") == std::string_view::npos);
    text.remove_prefix(end + 2);
    return line;
}

int hex_value(char c) {
    must((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

// Decodes quoted-printable text, in which '_' is a space in a header.
std::string decoded(std::string_view text, bool is_header) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '=') {
            plain += is_header && text[at] == '_' ? ' ' : text[at];
            continue;
        }
        must(at + 2 < text.size());
        plain += static_cast<char>(hex_value(text[at + 1]) * 16 + hex_value(text[at + 2]));
        at += 2;
    }
    return plain;
}

// The text of one line of a subject: an encoded word, or all of a plain subject.
std::string subject_part(std::string_view line) {
    constexpr std::string_view kBegin = "=?UTF-8?Q?";
    if (!line.starts_with(kBegin)) return std::string(line);
    must(line.ends_with("?=") && line.size() <= 75);
    line.remove_prefix(kBegin.size());
    line.remove_suffix(2);
    must(line.find_first_of("? ") == std::string_view::npos);
    return decoded(line, true);
}

void check_head(std::string_view& text, std::string_view subject) {
    std::size_t fields = 0;
    std::string found;
    bool is_subject = false;
    for (std::string_view line = next_line(text); !line.empty(); line = next_line(text)) {
        if (line.starts_with(' ')) {
            must(is_subject);
            line.remove_prefix(1);
        } else {
            const std::string_view name = fuzz::take(line, ':');
            must(line.starts_with(' '));
            line.remove_prefix(1);
            is_subject = name == "Subject";
            must(is_ascii(line) || name == "From" || name == "To" || name == "Message-ID");
            ++fields;
        }
        if (is_subject) found += subject_part(line);
    }
    must(fields == kFields);
    must(found == subject);
}

void check_body(std::string_view body, std::string_view text) {
    must(is_ascii(body));
    std::string plain;
    while (!body.empty()) {
        std::string_view line = next_line(body);
        must(line.size() <= kLongestBodyLine);
        const bool is_soft = line.ends_with('=');
        if (is_soft) line.remove_suffix(1);
        must(is_soft || !(line.ends_with(' ') || line.ends_with('\t')));
        plain += decoded(line, false);
        if (!is_soft) plain += '\n';
    }
    std::string expected;
    while (!text.empty()) {
        std::string_view line = fuzz::take(text, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        expected.append(line).append("\n");
    }
    must(plain == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view input = fuzz::text_of(data, size);
    net::MailMessage message;
    message.to = fuzz::take(input, '\n');
    const std::string from(fuzz::take(input, '\n'));
    message.subject = fuzz::take(input, '\n');
    message.text = input;
    message.date = Timestamp(1'800'000'000'000);
    std::string composed;
    try {
        composed = net::compose(message, from);
    } catch (const std::invalid_argument& error) {
        const std::string_view reason = error.what();  // never quotes the mail
        must(reason == "the address is not valid" || reason == "control character in the subject");
        return 0;
    }
    std::string_view text = composed;
    check_head(text, message.subject);
    check_body(text, message.text);
    return 0;
}
