#include "store/mail_outbox.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::SystemSql;
using db::Why;

namespace {

// next_attempt_at of urgent mail is this much less than its time, and so below 0.
constexpr Milliseconds kUrgentShift{1'000'000'000'000'000};

// `when` as next_attempt_at holds it.
Timestamp stored_time(MailUrgency urgency, Timestamp when) {
    return urgency == MailUrgency::Urgent ? when - kUrgentShift : when;
}

constexpr auto kMail = columns<QueuedMail>(
    column<&QueuedMail::id>("id"), column<&QueuedMail::content>("content"),
    column<&QueuedMail::attempts>("attempts - 1"), column<&QueuedMail::created_at>("created_at"),
    column<&QueuedMail::expires_at>("expires_at"));

constexpr auto kBacklog = columns<MailBacklog>(column<&MailBacklog::mails>("COUNT(*)"),
                                               column<&MailBacklog::oldest>("MIN(created_at)"));

}  // namespace

void insert_mail(db::Tx& tx, MailUrgency urgency, MailId id, std::string_view content,
                 Timestamp now, Timestamp expires_at) {
    static constexpr SystemSql kInsert{
        "mail_outbox.insert", Why{"mail goes to admins, who belong to no tenant"},
        "INSERT INTO mail_outbox (id, content, next_attempt_at, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?)"};
    tx.execute(kInsert, id, content, stored_time(urgency, now), now, expires_at);
}

std::vector<MailId> find_due_mails(db::Tx& tx, MailUrgency urgency, Timestamp now, int limit) {
    static constexpr SystemSql kFind{"mail_outbox.find_due",
                                     Why{"mail goes to admins, who belong to no tenant"},
                                     "SELECT id FROM mail_outbox FORCE INDEX (due) "
                                     "WHERE next_attempt_at BETWEEN ? AND ? "
                                     "AND lease_until <= ? ORDER BY next_attempt_at LIMIT ?"};
    return tx.all<MailId>(kFind, stored_time(urgency, Timestamp()), stored_time(urgency, now), now,
                          limit);
}

bool claim_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp now, Timestamp until) {
    static constexpr SystemSql kClaim{
        "mail_outbox.claim", Why{"mail goes to admins, who belong to no tenant"},
        "UPDATE mail_outbox SET lease_owner = ?, lease_until = ?, attempts = attempts + 1 "
        "WHERE id = ? AND next_attempt_at <= IF(next_attempt_at < 0, ?, ?) AND lease_until <= ?"};
    return tx.execute(kClaim, owner, until, id, stored_time(MailUrgency::Urgent, now), now, now) ==
           1;
}

std::optional<QueuedMail> find_claimed_mail(db::Tx& tx, MailId id, const Uuid& owner) {
    static constexpr SystemSql kFind{
        "mail_outbox.find_claimed", Why{"mail goes to admins, who belong to no tenant"}, kMail,
        "SELECT {columns} FROM mail_outbox WHERE id = ? AND lease_owner = ?"};
    return tx.one(kFind, id, owner);
}

void postpone_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp when) {
    static constexpr SystemSql kPostpone{
        "mail_outbox.postpone", Why{"mail goes to admins, who belong to no tenant"},
        "UPDATE mail_outbox SET next_attempt_at = IF(next_attempt_at < 0, ?, ?), "
        "lease_owner = NULL, lease_until = 0 WHERE id = ? AND lease_owner = ?"};
    tx.execute(kPostpone, stored_time(MailUrgency::Urgent, when), when, id, owner);
}

std::int64_t delete_mail(db::Tx& tx, MailId id) {
    static constexpr SystemSql kDelete{"mail_outbox.delete",
                                       Why{"mail goes to admins, who belong to no tenant"},
                                       "DELETE FROM mail_outbox WHERE id = ?"};
    return tx.execute(kDelete, id);
}

MailBacklog count_waiting_mails(db::Tx& tx) {
    static constexpr SystemSql kCount{"mail_outbox.count",
                                      Why{"mail goes to admins, who belong to no tenant"}, kBacklog,
                                      "SELECT {columns} FROM mail_outbox"};
    return tx.value(kCount);
}

}  // namespace muster::store
