#include "store/idempotency.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::or_empty;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kStoredReply = columns<IdempotencyRecord>(
    column<&IdempotencyRecord::body_hash>("body_hash"),
    column<&IdempotencyRecord::status>("status"),
    converted<or_empty<std::string>, &IdempotencyRecord::location>("location"),
    column<&IdempotencyRecord::body>("body"), column<&IdempotencyRecord::expires_at>("expires_at"),
    column<&IdempotencyRecord::is_sealed>("sealed"));

}  // namespace

bool claim_idempotency_key(db::OrgStore& org, std::string_view key_hash,
                           const IdempotencyRecord& record, Timestamp now) {
    static constexpr OrgSql kClaim{
        "idempotency.claim",
        "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, location, "
        "body, "
        "created_at, expires_at) VALUES (:org, ?, ?, 0, NULL, '', ?, ?)"};
    return db::try_unique(
        [&] { org.execute(kClaim, key_hash, record.body_hash, now, record.expires_at); });
}

std::optional<IdempotencyRecord> find_idempotency_record(db::OrgStore& org,
                                                         std::string_view key_hash) {
    static constexpr OrgSql kFind{
        "idempotency.find", kStoredReply,
        "SELECT {columns} FROM idempotency_keys WHERE organization_id = :org AND key_hash = ?"};
    return org.one(kFind, key_hash);
}

void complete_idempotency_key(db::OrgStore& org, std::string_view key_hash,
                              const IdempotencyRecord& record) {
    static constexpr OrgSql kComplete{
        "idempotency.complete",
        "UPDATE idempotency_keys SET status = ?, location = ?, body = ?, expires_at = ?, "
        "sealed = ? "
        "WHERE organization_id = :org AND key_hash = ?"};
    org.execute(kComplete, record.status, db::Param::text_or_null(record.location), record.body,
                record.expires_at, record.is_sealed, key_hash);
}

void delete_idempotency_key(db::OrgStore& org, std::string_view key_hash) {
    static constexpr OrgSql kDelete{
        "idempotency.delete",
        "DELETE FROM idempotency_keys WHERE organization_id = :org AND key_hash = ?"};
    org.execute(kDelete, key_hash);
}

std::int64_t purge_idempotency_keys(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"idempotency.purge",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM idempotency_keys WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

}  // namespace muster::store
