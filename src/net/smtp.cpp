#include "net/smtp.hpp"

#include "base/loopback.hpp"
#include "base/text.hpp"
#include "net/curl.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace muster::net {
namespace {

constexpr long kAuthenticationRequired = 530;

// Gives curl the next part of the mail.
std::size_t on_read(char* to, std::size_t size, std::size_t count, void* from) {
    auto& rest = *static_cast<std::string_view*>(from);
    const std::size_t length = std::min(size * count, rest.size());
    std::memcpy(to, rest.data(), length);
    rest.remove_prefix(length);
    return length;
}

// Otherwise curl would write the server's replies to standard output.
std::size_t on_reply(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
}

constexpr std::size_t kLongestAnswer = 512;

// Keeps the last line of a reply. 334 asks for credentials, 235 accepts them, 221 answers QUIT.
std::size_t on_smtp_answer(char* from, std::size_t size, std::size_t count, void* to) {
    const std::string_view line = trimmed_ascii(std::string_view(from, size * count));
    const bool is_left_out =
        line.starts_with("334") || line.starts_with("235") || line.starts_with("221");
    if (!is_left_out) *static_cast<std::string*>(to) = line.substr(0, kLongestAnswer);
    return size * count;
}

void set_tls(CURL* curl, const SmtpSettings& settings) {
    const bool has_user = !settings.user.empty();
    const bool needs_tls =
        settings.tls == SmtpTls::Require || (settings.tls == SmtpTls::Try && has_user);
    const long use = needs_tls                      ? CURLUSESSL_ALL
                     : settings.tls == SmtpTls::Try ? CURLUSESSL_TRY
                                                    : CURLUSESSL_NONE;
    // A mail server on the loopback often has a self-signed certificate, as on Debian, and the
    // connection cannot be intercepted.
    const bool accepts_any_certificate = settings.tls == SmtpTls::Try && !has_user &&
                                         settings.url.starts_with("smtp://") &&
                                         is_loopback(authority_of(settings.url));
    set(curl, CURLOPT_USE_SSL, use);
    trust(curl, settings.ca_file);
    if (!accepts_any_certificate) return;
    set(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    set(curl, CURLOPT_SSL_VERIFYHOST, 0L);
}

void set_connection(CURL* curl, const SmtpSettings& settings) {
    harden(curl, "smtp,smtps");
    set(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings.connect_seconds));
    set(curl, CURLOPT_TIMEOUT, static_cast<long>(settings.total_seconds));
    set(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, static_cast<long>(settings.reply_seconds));
    // Otherwise destroying the handle would send QUIT and wait for the reply without these limits.
    set(curl, CURLOPT_FORBID_REUSE, 1L);
    set(curl, CURLOPT_URL, settings.url.c_str());
    if (settings.user.empty()) return;
    set(curl, CURLOPT_USERNAME, settings.user.c_str());
    set(curl, CURLOPT_PASSWORD, settings.password.reveal().c_str());
}

// `is_whole`: curl has read the whole mail.
bool is_permanent(CURLcode code, long reply, bool is_whole) {
    const bool is_rejection = reply >= 500 && reply <= 599 && reply != kAuthenticationRequired;
    if (code == CURLE_SEND_ERROR) return is_rejection;  // the reply to MAIL, RCPT or DATA
    // The reply to the mail itself. An earlier reply concerns the connection, not this mail.
    return code == CURLE_WEIRD_SERVER_REPLY && is_whole && is_rejection;
}

std::string reason_of(CURLcode code, long reply) {
    std::string reason = curl_easy_strerror(code);
    if (reply > 0) reason += " (last reply " + std::to_string(reply) + ")";
    return reason;
}

}  // namespace

SmtpSender::SmtpSender(SmtpSettings settings) : settings_(std::move(settings)) {}

SmtpOutcome SmtpSender::send(const MailMessage& message) const {
    std::string text;
    try {
        text = compose(message, settings_.from);
    } catch (const std::invalid_argument& error) {
        return {SmtpResult::Refused, error.what(), ""};
    }
    CurlList recipients;
    append(recipients, "<" + message.to + ">");
    const std::string sender = "<" + settings_.from + ">";
    std::string_view rest = text;

    const CurlHandle handle = new_curl();
    CURL* curl = handle.get();
    set_connection(curl, settings_);
    set_tls(curl, settings_);
    set(curl, CURLOPT_MAIL_FROM, sender.c_str());
    set(curl, CURLOPT_MAIL_RCPT, recipients.get());
    set(curl, CURLOPT_UPLOAD, 1L);
    set(curl, CURLOPT_READFUNCTION, on_read);
    set(curl, CURLOPT_READDATA, &rest);
    set(curl, CURLOPT_WRITEFUNCTION, on_reply);
    set(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(text.size()));

    std::string answer;
    set(curl, CURLOPT_HEADERFUNCTION, on_smtp_answer);
    set(curl, CURLOPT_HEADERDATA, &answer);

    const CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK) return {SmtpResult::Sent, "", answer};
    long reply = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
    return {is_permanent(code, reply, rest.empty()) ? SmtpResult::Refused : SmtpResult::TryAgain,
            reason_of(code, reply), answer};
}

}  // namespace muster::net
