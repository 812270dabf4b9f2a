#include "store/mail_outbox.hpp"

namespace muster::store {

using db::SystemSql;
using db::Why;

void insert_mail(db::Tx& tx, MailId id, std::string_view content, Timestamp now,
                 Timestamp expires_at) {
    static constexpr SystemSql kInsert{
        "mail_outbox.insert", Why{"mail goes to admins, who belong to no tenant"},
        "INSERT INTO mail_outbox (id, content, next_attempt_at, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?)"};
    tx.execute(kInsert, id, content, now, now, expires_at);
}

std::vector<MailId> find_due_mails(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kFind{
        "mail_outbox.find_due", Why{"mail goes to admins, who belong to no tenant"},
        "SELECT id FROM mail_outbox WHERE next_attempt_at <= ? AND lease_until <= ? "
        "ORDER BY next_attempt_at LIMIT ?"};
    std::vector<MailId> ids;
    for (auto rows = tx.query(kFind, now, now, limit); rows.next();) {
        ids.push_back(rows.id<MailId>(1));
    }
    return ids;
}

bool claim_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp now, Timestamp until) {
    static constexpr SystemSql kClaim{
        "mail_outbox.claim", Why{"mail goes to admins, who belong to no tenant"},
        "UPDATE mail_outbox SET lease_owner = ?, lease_until = ?, attempts = attempts + 1 "
        "WHERE id = ? AND next_attempt_at <= ? AND lease_until <= ?"};
    return tx.execute(kClaim, owner, until, id, now, now) == 1;
}

std::optional<QueuedMail> find_claimed_mail(db::Tx& tx, MailId id, const Uuid& owner) {
    static constexpr SystemSql kFind{"mail_outbox.find_claimed",
                                     Why{"mail goes to admins, who belong to no tenant"},
                                     "SELECT content, attempts, created_at, expires_at "
                                     "FROM mail_outbox WHERE id = ? AND lease_owner = ?"};
    auto rows = tx.query(kFind, id, owner);
    if (!rows.next()) return std::nullopt;
    return QueuedMail{id, rows.bytes(1), static_cast<int>(rows.integer(2)) - 1, rows.timestamp(3),
                      rows.timestamp(4)};
}

void postpone_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp when) {
    static constexpr SystemSql kPostpone{
        "mail_outbox.postpone", Why{"mail goes to admins, who belong to no tenant"},
        "UPDATE mail_outbox SET next_attempt_at = ?, lease_owner = NULL, lease_until = 0 "
        "WHERE id = ? AND lease_owner = ?"};
    tx.execute(kPostpone, when, id, owner);
}

std::int64_t delete_mail(db::Tx& tx, MailId id) {
    static constexpr SystemSql kDelete{"mail_outbox.delete",
                                       Why{"mail goes to admins, who belong to no tenant"},
                                       "DELETE FROM mail_outbox WHERE id = ?"};
    return tx.execute(kDelete, id);
}

MailBacklog count_waiting_mails(db::Tx& tx) {
    static constexpr SystemSql kCount{"mail_outbox.count",
                                      Why{"mail goes to admins, who belong to no tenant"},
                                      "SELECT COUNT(*), MIN(created_at) FROM mail_outbox"};
    auto rows = tx.query(kCount);
    rows.next();
    return {rows.integer(1), rows.optional_timestamp(2)};
}

}  // namespace muster::store
