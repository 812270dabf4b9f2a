// Recorded replies of idempotent requests, written in the transaction of their effect.
#pragma once

#include "db/transaction.hpp"

#include <span>
#include <string>
#include <vector>

namespace muster::store {

struct IdempotencyRecord {
    std::string key_hash;
    std::string body_hash;
    int status = 0;
    std::string location;  // "" = none
    std::string body;
    Timestamp expires_at;
    bool is_sealed = false;
};

enum class RecordLock : std::uint8_t { None, Share };
// The records of these keys, also expired ones, in any order. With RecordLock::Share it waits for a
// transaction that has written one of them and has not ended.
std::vector<IdempotencyRecord> find_idempotency_records(db::OrgStore& org,
                                                        std::span<const std::string> key_hashes,
                                                        RecordLock lock);
// False if a key has a record already; roll the transaction back then. Waits for another
// transaction that has written a record of one of the keys.
bool insert_idempotency_records(db::OrgStore& org, std::span<const IdempotencyRecord> records,
                                Timestamp now);
// Deletes the expired records among these and returns their number. Waits for a transaction that is
// replacing one.
std::int64_t delete_expired_idempotency_records(db::OrgStore& org,
                                                std::span<const std::string> key_hashes,
                                                Timestamp now);
// Deletes at most `limit` expired records. Returns their number.
std::int64_t purge_idempotency_keys(db::Tx& tx, Timestamp now, int limit);

}  // namespace muster::store
