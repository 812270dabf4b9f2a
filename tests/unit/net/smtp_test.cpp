// net/smtp.hpp against real sockets: the replies of a mail server and the result for the mail.
#include "net/smtp.hpp"

#include "unit/net/loopback_smtp.hpp"

#include "print.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

using namespace muster;
using net::MailMessage;
using net::SmtpResult;
using net::SmtpSender;
using net::SmtpSettings;
using net::SmtpTls;
using test::LoopbackSmtp;

namespace {

MailMessage short_mail() {
    return {MailId::create(), "ann@example.org", "Your code", "12345678\n", Timestamp::now()};
}

SmtpSettings settings_for(const LoopbackSmtp& server) {
    SmtpSettings settings;
    settings.url = server.url();
    settings.from = "muster@club.example";
    settings.connect_seconds = 2;
    settings.reply_seconds = 1;
    settings.total_seconds = 2;
    return settings;
}

LoopbackSmtp::Script answering(std::string step, std::string reply) {
    return [step = std::move(step), reply = std::move(reply)](std::string_view at) {
        return at == step ? reply : std::string();
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(net_smtp)

BOOST_AUTO_TEST_CASE(a_mail_is_delivered_unchanged) {
    const LoopbackSmtp server;
    auto message = short_mail();
    message.text = ".\n..\nfirst\n\n.last\n";
    const auto outcome = SmtpSender(settings_for(server)).send(message);
    BOOST_TEST(outcome.result == SmtpResult::Sent);
    BOOST_TEST(outcome.reason == "");
    BOOST_TEST(outcome.answer.starts_with("250"), outcome.answer);
    BOOST_TEST(server.mails().size() == 1U);
    const auto received = server.mails().at(0);
    BOOST_TEST(received.from.starts_with("<muster@club.example>"), received.from);
    BOOST_TEST(received.to == "<ann@example.org>");
    BOOST_TEST(received.data == net::compose(message, "muster@club.example"));
    BOOST_TEST(server.commands().back() == "QUIT");
}

BOOST_AUTO_TEST_CASE(one_sender_sends_several_mails) {
    const LoopbackSmtp server;
    const SmtpSender sender(settings_for(server));
    for (int i = 0; i < 5; ++i) BOOST_TEST(sender.send(short_mail()).result == SmtpResult::Sent);
    BOOST_TEST(server.mails().size() == 5U);
}

BOOST_AUTO_TEST_CASE(an_address_beyond_ascii_is_sent_as_utf8) {
    const LoopbackSmtp server;
    auto message = short_mail();
    message.to = "käthe@example.org";
    BOOST_TEST(SmtpSender(settings_for(server)).send(message).result == SmtpResult::Sent);
    BOOST_TEST(server.mails().at(0).to == "<käthe@example.org>");
    BOOST_TEST(server.mails().at(0).from.find("SMTPUTF8") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_temporary_rejection_is_retried) {
    for (const char* step : {"connect", "MAIL", "RCPT", "DATA", "."}) {
        const LoopbackSmtp server(answering(step, "451 come again ann@example.org"));
        const auto outcome = SmtpSender(settings_for(server)).send(short_mail());
        BOOST_TEST(outcome.result == SmtpResult::TryAgain, step);
        BOOST_TEST(outcome.reason.find("451") != std::string::npos, step << ": " << outcome.reason);
        BOOST_TEST(outcome.reason.find("ann") == std::string::npos);
        BOOST_TEST(server.mails().empty());
    }
}

BOOST_AUTO_TEST_CASE(a_permanent_rejection_of_the_mail_is_final) {
    for (const char* step : {"MAIL", "RCPT", "DATA", "."}) {
        const LoopbackSmtp server(answering(step, "550 5.1.1 no ann@example.org here"));
        const auto outcome = SmtpSender(settings_for(server)).send(short_mail());
        BOOST_TEST(outcome.result == SmtpResult::Refused, step);
        BOOST_TEST(outcome.answer == "550 5.1.1 no ann@example.org here", step);
        BOOST_TEST(outcome.reason.find("550") != std::string::npos, step << ": " << outcome.reason);
        BOOST_TEST(outcome.reason.find("ann") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_rejection_of_the_client_is_retried_because_the_operator_can_fix_it) {
    for (const auto& [step, reply] :
         {std::pair("connect", "554 go away"), std::pair("MAIL", "530 authentication required")}) {
        const LoopbackSmtp server(answering(step, reply));
        BOOST_TEST(
            SmtpSender(settings_for(server)).send(short_mail()).result == SmtpResult::TryAgain,
            reply);
    }
}

BOOST_AUTO_TEST_CASE(an_interrupted_connection_is_retried) {
    for (const char* step : {"connect", "EHLO", "MAIL", "RCPT", "DATA", "."}) {
        const LoopbackSmtp server(answering(step, std::string(LoopbackSmtp::kCut)));
        const auto outcome = SmtpSender(settings_for(server)).send(short_mail());
        BOOST_TEST(outcome.result == SmtpResult::TryAgain, step);
        BOOST_TEST(outcome.reason != "");
    }
}

BOOST_AUTO_TEST_CASE(an_unresponsive_server_delays_a_mail_no_longer_than_the_limit) {
    for (const char* step : {"connect", "RCPT", "."}) {
        const LoopbackSmtp server(answering(step, std::string(LoopbackSmtp::kHang)));
        const auto began = std::chrono::steady_clock::now();
        const auto outcome = SmtpSender(settings_for(server)).send(short_mail());
        const auto took = std::chrono::steady_clock::now() - began;
        BOOST_TEST(outcome.result == SmtpResult::TryAgain, step);
        BOOST_TEST(took < std::chrono::seconds(4), step);
    }
}

BOOST_AUTO_TEST_CASE(a_mail_is_sent_even_if_the_server_does_not_answer_quit) {
    const LoopbackSmtp server(answering("QUIT", std::string(LoopbackSmtp::kHang)));
    const auto began = std::chrono::steady_clock::now();
    BOOST_TEST(SmtpSender(settings_for(server)).send(short_mail()).result == SmtpResult::Sent);
    const auto took = std::chrono::steady_clock::now() - began;
    BOOST_TEST(took < std::chrono::seconds(4));
}

BOOST_AUTO_TEST_CASE(a_refused_connection_is_retried) {
    SmtpSettings settings;
    {
        const LoopbackSmtp gone;
        settings = settings_for(gone);
    }
    BOOST_TEST(SmtpSender(settings).send(short_mail()).result == SmtpResult::TryAgain);
    settings.url = "smtp://nowhere.invalid:25";
    BOOST_TEST(SmtpSender(settings).send(short_mail()).result == SmtpResult::TryAgain);
}

BOOST_AUTO_TEST_CASE(required_tls_prevents_sending_without_tls) {
    const LoopbackSmtp server;
    auto settings = settings_for(server);
    settings.tls = SmtpTls::Require;
    BOOST_TEST(SmtpSender(settings).send(short_mail()).result == SmtpResult::TryAgain);
    BOOST_TEST(server.mails().empty());
}

BOOST_AUTO_TEST_CASE(a_password_is_sent_in_cleartext_only_if_tls_is_none) {
    const auto offers_login = answering("EHLO", "250-loopback\r\n250 AUTH PLAIN LOGIN");
    const auto sign_in = [&](SmtpTls tls, const LoopbackSmtp& server) {
        auto settings = settings_for(server);
        settings.user = "muster";
        settings.password = Secret("pa55");
        settings.tls = tls;
        static_cast<void>(SmtpSender(settings).send(short_mail()));
        const auto commands = server.commands();
        return std::any_of(commands.begin(), commands.end(),
                           [](const std::string& line) { return line.starts_with("AUTH"); });
    };
    const LoopbackSmtp careful(offers_login);
    BOOST_TEST(!sign_in(SmtpTls::Try, careful));
    const LoopbackSmtp open(offers_login);
    BOOST_TEST(sign_in(SmtpTls::None, open));
}

BOOST_AUTO_TEST_CASE(starttls_is_used_if_offered_and_configured) {
    const auto asked = [](SmtpTls tls) {
        const LoopbackSmtp server(answering("EHLO", "250-loopback\r\n250 STARTTLS"));
        auto settings = settings_for(server);
        settings.tls = tls;
        static_cast<void>(SmtpSender(settings).send(short_mail()));
        const auto commands = server.commands();
        return std::find(commands.begin(), commands.end(), "STARTTLS") != commands.end();
    };
    BOOST_TEST(asked(SmtpTls::Try));
    BOOST_TEST(asked(SmtpTls::Require));
    BOOST_TEST(!asked(SmtpTls::None));
}

BOOST_AUTO_TEST_CASE(an_invalid_mail_never_reaches_the_server) {
    const LoopbackSmtp server;
    auto message = short_mail();
    message.to = "ann@example.org\r\nRCPT TO:<eve@example.org>";
    BOOST_TEST(SmtpSender(settings_for(server)).send(message).result == SmtpResult::Refused);
    BOOST_TEST(server.commands().empty());
}

BOOST_AUTO_TEST_CASE(proxy_variables_of_the_environment_are_ignored) {
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    const LoopbackSmtp server;
    BOOST_TEST(SmtpSender(settings_for(server)).send(short_mail()).result == SmtpResult::Sent);
    unsetenv("ALL_PROXY");
}

BOOST_AUTO_TEST_SUITE_END()
