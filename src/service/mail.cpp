#include "service/mail.hpp"

#include "base/email.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "net/smtp.hpp"
#include "rules/seal_names.hpp"
#include "store/mail_outbox.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <vector>

namespace muster::service {
namespace {

// Enough for any address with escaped quotes and backslashes.
constexpr std::size_t kAddressRoom = 2 * kLongestEmail;
constexpr std::size_t kSizeStep = 512;
constexpr int kMailsAtOnce = 5;
// Longer than SmtpSender takes for one mail.
constexpr Milliseconds kLease{40'000};
constexpr Milliseconds kOverdueAfter{120'000};
// One or two failed attempts are normal, for instance with greylisting, and are not logged as a
// warning.
constexpr int kWarnAfterAttempts = 3;

std::string document(const Mail& mail, std::string_view to) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.key("to");
    json.string(to);
    json.key("subject");
    json.string(mail.subject);
    json.key("text");
    json.string(mail.text);
    json.end_object();
    return text;
}

// Pads the document with spaces, so that its size does not depend on the address.
std::string padded_document(const Mail& mail) {
    std::string text = document(mail, mail.to);
    const std::size_t room = document(mail, "").size() + kAddressRoom;
    text.resize((room + kSizeStep - 1) / kSizeStep * kSizeStep, ' ');
    return text;
}

std::optional<Mail> mail_of(std::string_view text) {
    Json::Value json;
    if (!parse_json(text, json) || !json.isObject()) return std::nullopt;
    for (const char* field : {"to", "subject", "text"}) {
        if (!json[field].isString()) return std::nullopt;
    }
    return Mail{json["to"].asString(), json["subject"].asString(), json["text"].asString()};
}

net::SmtpSettings smtp_settings(const Settings& settings) {
    net::SmtpSettings smtp;
    smtp.url = settings.mail.url;
    smtp.from = settings.mail.from;
    smtp.user = settings.mail.user;
    smtp.password = settings.mail.password;
    smtp.ca_file = settings.mail.ca_file;
    if (settings.mail.tls == "none") smtp.tls = net::SmtpTls::None;
    if (settings.mail.tls == "require") smtp.tls = net::SmtpTls::Require;
    return smtp;
}

void insert_sealed(db::Tx& tx, const KeyRing& keys, store::MailUrgency urgency, const Mail& mail,
                   Timestamp now, Timestamp expires_at) {
    if (mail.to.size() > kLongestEmail || has_control(mail.to))
        throw std::invalid_argument("the address is too long or contains a control character");
    const MailId id = MailId::create();
    store::insert_mail(tx, urgency, id, keys.seal(padded_document(mail), rules::mail_seal_name(id)),
                       now, expires_at);
}

std::vector<MailId> due_mails(Context& context, store::MailUrgency urgency) {
    return context.database.autocommit([&](db::Tx& tx) {
        return store::find_due_mails(tx, urgency, Timestamp::now(), kMailsAtOnce);
    });
}

}  // namespace

void queue_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                Timestamp expires_at) {
    insert_sealed(tx, keys, store::MailUrgency::Normal, mail, now, expires_at);
}

void queue_urgent_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                       Timestamp expires_at) {
    insert_sealed(tx, keys, store::MailUrgency::Urgent, mail, now, expires_at);
}

MailDispatch::MailDispatch(Context& context)
    : context_(context),
      sender_(std::make_unique<net::SmtpSender>(smtp_settings(context.settings))),
      owner_(Uuid::v7()) {}

MailDispatch::~MailDispatch() = default;

int MailDispatch::step(const std::function<bool()>& should_stop) {
    int processed = process_urgent(should_stop);
    for (const MailId id : due_mails(context_, store::MailUrgency::Normal)) {
        if (should_stop()) break;
        if (process(id)) ++processed;
        processed += process_urgent(should_stop);
    }
    return processed;
}

// A bounded number, so that urgent mail does not stop other mail.
int MailDispatch::process_urgent(const std::function<bool()>& should_stop) {
    int processed = 0;
    for (const MailId id : due_mails(context_, store::MailUrgency::Urgent)) {
        if (should_stop()) break;
        if (process(id)) ++processed;
    }
    return processed;
}

bool MailDispatch::process(MailId id) {
    const auto queued = context_.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        return store::claim_mail(tx, id, owner_, now, now + kLease)
                   ? store::find_claimed_mail(tx, id, owner_)
                   : std::nullopt;
    });
    if (queued) deliver(*queued);
    return queued.has_value();
}

void MailDispatch::deliver(const store::QueuedMail& queued) {
    if (queued.expires_at <= Timestamp::now())
        return drop(queued.id, "mail.expired", "the mail expired before it was sent");
    const auto content = context_.keys.open(queued.content, rules::mail_seal_name(queued.id));
    // During a key rotation, another runner may have the right key.
    if (!content) return postpone(queued, "it cannot be opened with this key");
    const auto mail = mail_of(content->reveal());
    if (!mail) return drop(queued.id, "mail.failed", "the content is not a mail");
    if (mail->to.empty()) return remove(queued.id);  // a decoy
    const auto outcome =
        sender_->send({queued.id, mail->to, mail->subject, mail->text, queued.created_at});
    switch (outcome.result) {
        case net::SmtpResult::Sent:
            remove(queued.id);
            log_event(LogLevel::Info, "mail.sent", {{"mail", queued.id.text()}});
            return;
        case net::SmtpResult::Refused:
            return drop(queued.id, "mail.refused", outcome.reason);
        case net::SmtpResult::TryAgain:
            return postpone(queued, outcome.reason);
    }
}

void MailDispatch::remove(MailId id) {
    context_.database.transaction([&](db::Tx& tx) { store::delete_mail(tx, id); });
}

void MailDispatch::drop(MailId id, std::string_view event, std::string_view reason) {
    remove(id);
    log_event(LogLevel::Error, event, {{"mail", id.text()}, {"reason", reason}});
}

void MailDispatch::postpone(const store::QueuedMail& queued, std::string_view reason) {
    const Timestamp when =
        std::min(Timestamp::now() + mail_back_off(queued.attempts), queued.expires_at);
    context_.database.transaction(
        [&](db::Tx& tx) { store::postpone_mail(tx, queued.id, owner_, when); });
    const int attempt = queued.attempts + 1;
    log_event(attempt < kWarnAfterAttempts ? LogLevel::Info : LogLevel::Warning, "mail.postponed",
              {{"mail", queued.id.text()}, {"attempt", attempt}, {"reason", reason}});
}

Milliseconds mail_back_off(int attempts) {
    constexpr std::array<std::int64_t, 5> kSeconds = {1, 5, 30, 120, 600};
    const auto step =
        std::min(static_cast<std::size_t>(std::max(attempts, 0)), kSeconds.size() - 1);
    return Milliseconds(1000 * kSeconds[step]);
}

MailTest send_test_mail(const Settings& settings, const std::string& to) {
    const net::SmtpOutcome outcome = net::SmtpSender(smtp_settings(settings))
                                         .send({MailId::create(), to, "Muster: test message",
                                                "The operator of this Muster installation sent "
                                                "this message with `musterctl mail test`.\n",
                                                Timestamp::now()});
    return {outcome.result == net::SmtpResult::Sent, outcome.answer, outcome.reason};
}

std::string mail_problem(Context& context) {
    const auto backlog =
        context.database.autocommit([](db::Tx& tx) { return store::count_waiting_mails(tx); });
    const Timestamp now = Timestamp::now();
    if (!backlog.oldest || now - *backlog.oldest <= kOverdueAfter) return "";
    return "mail has been waiting for " + std::to_string((now - *backlog.oldest).count() / 60'000) +
           " minutes: check that cron starts muster-run, and mail.* in the configuration";
}

}  // namespace muster::service
