// net/mail_message.hpp: the format of a mail, and protection against header injection.
#include "net/mail_message.hpp"

#include "base/text.hpp"

#include "print.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace muster;
using net::compose;
using net::MailMessage;

namespace {

MailMessage mail(const std::string& subject = "Your code", const std::string& text = "12345678\n") {
    return {*MailId::parse("0197a000-0000-7000-8000-000000000001"), "ann@example.org", subject,
            text, *Timestamp::parse("2026-11-01T09:05:03Z")};
}

std::string header(const std::string& message, const std::string& name) {
    const std::string head = message.substr(0, message.find("\r\n\r\n") + 2);
    const auto at = ("\r\n" + head).find("\r\n" + name + ": ");
    if (at == std::string::npos) return "(none)";
    const auto from = at + name.size() + 2;
    auto to = head.find("\r\n", from);
    while (head.compare(to + 2, 1, " ") == 0) to = head.find("\r\n", to + 2);
    return head.substr(from, to - from);
}

std::string body(const std::string& message) {
    return message.substr(message.find("\r\n\r\n") + 4);
}

// Decodes quoted-printable like a mail reader.
std::string unquoted(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') {
            plain += text[i];
        } else if (text.compare(i, 3, "=\r\n") == 0) {
            i += 2;
        } else {
            plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        }
    }
    return plain;
}

// Decodes encoded words (Q, UTF-8) like a mail reader.
std::string decoded(std::string subject) {
    std::string plain;
    constexpr std::string_view kStart = "=?UTF-8?Q?";
    while (subject.starts_with(kStart)) {
        const auto end = subject.find("?=", kStart.size());
        BOOST_TEST(end + 2 <= 75U);
        std::string word = subject.substr(kStart.size(), end - kStart.size());
        std::replace(word.begin(), word.end(), '_', ' ');
        BOOST_TEST(is_utf8(unquoted(word)), "a character is cut in two: " << word);
        plain += unquoted(word);
        subject.erase(0, end + 2);
        if (subject.starts_with("\r\n ")) subject.erase(0, 3);
    }
    BOOST_TEST(subject == "");
    return plain;
}

void check_lines(const std::string& message) {
    for (std::string_view line : split(message, '\n')) {
        if (line.empty()) continue;
        BOOST_TEST(line.ends_with('\r'));
        BOOST_TEST(line.size() <= 77U);
        BOOST_TEST(line.find('\r') == line.size() - 1);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(net_mail_message)

BOOST_AUTO_TEST_CASE(a_mail_has_the_required_headers) {
    const std::string text = compose(mail(), "muster@club.example");
    BOOST_TEST(text ==
               "From: <muster@club.example>\r\n"
               "To: <ann@example.org>\r\n"
               "Subject: Your code\r\n"
               "Date: Sun, 01 Nov 2026 09:05:03 +0000\r\n"
               "Message-ID: <0197a000-0000-7000-8000-000000000001@club.example>\r\n"
               "Auto-Submitted: auto-generated\r\n"
               "MIME-Version: 1.0\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n"
               "\r\n"
               "12345678\r\n");
}

BOOST_AUTO_TEST_CASE(an_address_or_subject_with_a_control_character_is_rejected) {
    for (const char* bad : {"\r", "\n", "\r\nBcc: <eve@example.org>", "\x7f", "\t", "\x01"}) {
        auto by_address = mail();
        by_address.to = std::string("ann@example.org") + bad;
        BOOST_CHECK_THROW(static_cast<void>(compose(by_address, "m@x.y")), std::invalid_argument);
        BOOST_CHECK_THROW(
            static_cast<void>(compose(mail(std::string("Hello") + bad + "x"), "m@x.y")),
            std::invalid_argument);
        BOOST_CHECK_THROW(static_cast<void>(compose(mail(), std::string("m@x.y") + bad)),
                          std::invalid_argument);
    }
    auto zero = mail();
    zero.to = std::string("ann\0@example.org", 16);
    BOOST_CHECK_THROW(static_cast<void>(compose(zero, "m@x.y")), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_invalid_address_is_rejected_and_not_repeated) {
    for (const std::string bad : {"", "ann", "@example.org", "ann@", "ann@x> SIZE=1",
                                  "<ann@example.org>", "a b@x.y", "ann@x.y,eve@x.y>"}) {
        auto message = mail();
        message.to = bad;
        try {
            static_cast<void>(compose(message, "m@x.y"));
            BOOST_TEST(false, "taken: " << bad);
        } catch (const std::invalid_argument& error) {
            BOOST_TEST(std::string(error.what()).find("example") == std::string::npos);
        }
    }
    auto longest = mail();
    longest.to = std::string(250, 'a') + "@b.c";
    BOOST_CHECK_NO_THROW(static_cast<void>(compose(longest, "m@x.y")));
    longest.to = std::string(251, 'a') + "@b.c";
    BOOST_CHECK_THROW(static_cast<void>(compose(longest, "m@x.y")), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_unusual_valid_address_is_sent_unchanged) {
    for (const std::string good : {"käthe@example.org", "\"a b\"@example.org",
                                   "\"a@b\"@example.org", "o'neill+x@example.org"}) {
        auto message = mail();
        message.to = good;
        BOOST_TEST(header(compose(message, "m@x.y"), "To") == "<" + good + ">");
    }
}

BOOST_AUTO_TEST_CASE(an_ascii_subject_is_sent_unchanged_and_any_other_is_encoded) {
    for (const std::string& subject :
         {std::string("Ihr Code für Käthe"), std::string("=?UTF-8?Q?=0D=0A?="),
          std::string(67, 'x'), std::string("🎉 party, ") + std::string(200, '.') + " 🎉",
          std::string(500, 'a') + "ü"}) {
        const std::string message = compose(mail(subject), "m@x.y");
        check_lines(message);
        BOOST_TEST(decoded(header(message, "Subject")) == subject);
    }
    BOOST_TEST(header(compose(mail("It's 50 % = half?"), "m@x.y"), "Subject") ==
               "It's 50 % = half?");
    BOOST_TEST(header(compose(mail(std::string(66, 'x')), "m@x.y"), "Subject") ==
               std::string(66, 'x'));
}

BOOST_AUTO_TEST_CASE(a_text_is_decoded_unchanged_with_normalized_line_ends) {
    const std::string all = "Grüße 😀 = 100 % \t\n.\n..dot\nFrom here\n \nlone\rreturn\n\n" +
                            std::string(300, 'y') + "\n" + std::string(75, 'z') + "\n" +
                            std::string(76, 'z') + "\ntail ";
    const std::string message = compose(mail("s", all), "m@x.y");
    check_lines(message);
    const std::string sent = body(message);
    BOOST_TEST(std::all_of(sent.begin(), sent.end(), [](char c) {
        return (c >= ' ' && c < 0x7f) || c == '\r' || c == '\n' || c == '\t';
    }));
    BOOST_TEST(sent.find(" \r\n") == std::string::npos);
    std::string expected;
    for (const char c : all + "\n") expected += c == '\n' ? "\r\n" : std::string(1, c);
    BOOST_TEST(unquoted(sent) == expected);
    BOOST_TEST(body(compose(mail("s", "a\r\nb\r\n"), "m@x.y")) == "a\r\nb\r\n");
    BOOST_TEST(body(compose(mail("s", ""), "m@x.y")) == "");
}

BOOST_AUTO_TEST_CASE(no_line_of_the_text_ends_the_head_or_the_mail) {
    const std::string message = compose(mail("s", "Bcc: eve@example.org\n.\nQUIT\n"), "m@x.y");
    BOOST_TEST(header(message, "Bcc") == "(none)");
    BOOST_TEST(body(message) == "Bcc: eve@example.org\r\n.\r\nQUIT\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
