#include "store/idempotency.hpp"

#include "store/batches.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kRecord = columns<IdempotencyRecord>(
    column<&IdempotencyRecord::key_hash>("key_hash"),
    column<&IdempotencyRecord::body_hash>("body_hash"),
    column<&IdempotencyRecord::status>("status"),
    converted<or_empty<std::string>, &IdempotencyRecord::location>("location"),
    column<&IdempotencyRecord::body>("body"), column<&IdempotencyRecord::expires_at>("expires_at"),
    column<&IdempotencyRecord::is_sealed>("sealed"));

}  // namespace

std::vector<IdempotencyRecord> find_idempotency_records(db::OrgStore& org,
                                                        std::span<const std::string> key_hashes,
                                                        RecordLock lock) {
    static constexpr OrgSql kFind{"idempotency.find", kRecord,
                                  "SELECT {columns} FROM idempotency_keys FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND key_hash IN ({?})"};
    static constexpr OrgSql kFindShared{
        "idempotency.find_shared", kRecord,
        "SELECT {columns} FROM idempotency_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND key_hash IN ({?}) LOCK IN SHARE MODE"};
    const auto& sql = lock == RecordLock::Share ? kFindShared : kFind;
    std::vector<IdempotencyRecord> found;
    in_batches(key_hashes, [&](const std::vector<Param>& params) {
        for (IdempotencyRecord record : org.each_bulk(sql, params.size(), params)) {
            found.push_back(std::move(record));
        }
    });
    return found;
}

bool insert_idempotency_records(db::OrgStore& org, std::span<const IdempotencyRecord> records,
                                Timestamp now) {
    static constexpr OrgSql kInsert{
        "idempotency.insert",
        "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, location, "
        "body, sealed, created_at, expires_at) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?, ?)}"};
    return db::try_unique([&] {
        in_pieces(records, [&](std::span<const IdempotencyRecord> piece) {
            std::vector<Param> params;
            params.reserve(piece.size() * 8);
            for (const IdempotencyRecord& record : piece) {
                params.insert(params.end(), {record.key_hash, record.body_hash, record.status,
                                             Param::text_or_null(record.location), record.body,
                                             record.is_sealed, now, record.expires_at});
            }
            org.execute_bulk(kInsert, piece.size(), params);
        });
    });
}

std::int64_t delete_expired_idempotency_records(db::OrgStore& org,
                                                std::span<const std::string> key_hashes,
                                                Timestamp now) {
    static constexpr OrgSql kDelete{"idempotency.delete_expired",
                                    "DELETE FROM idempotency_keys WHERE organization_id = :org "
                                    "AND key_hash IN ({?}) AND expires_at <= ?"};
    std::int64_t deleted = 0;
    in_batches(key_hashes, [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.emplace_back(now);
        deleted += org.execute_bulk(kDelete, count, params);
    });
    return deleted;
}

std::int64_t purge_idempotency_keys(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"idempotency.purge",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM idempotency_keys WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

}  // namespace muster::store
