// Recorded replies of idempotent requests, written in the transaction of their effect.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::store {

struct IdempotencyRecord {
    std::string body_hash;
    int status = 0;
    std::string location;  // "" = none
    std::string body;
    Timestamp expires_at;
    bool is_sealed = false;
};

// Claims the key for this transaction. A second transaction with the same key waits. False if a
// record exists.
bool claim_idempotency_key(db::OrgStore& org, std::string_view key_hash,
                           const IdempotencyRecord& record, Timestamp now);
std::optional<IdempotencyRecord> find_idempotency_record(db::OrgStore& org,
                                                         std::string_view key_hash);
// Writes the reply of a claimed key.
void complete_idempotency_key(db::OrgStore& org, std::string_view key_hash,
                              const IdempotencyRecord& record);
void delete_idempotency_key(db::OrgStore& org, std::string_view key_hash);
// Deletes at most `limit` expired records. Returns their number.
std::int64_t purge_idempotency_keys(db::Tx& tx, Timestamp now, int limit);

}  // namespace muster::store
