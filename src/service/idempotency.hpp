// Idempotency-Key (docs/api/idempotency.md "Idempotency"): a repeated request gets the recorded
// reply.
#pragma once

#include "service/context.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::service {

// A reply in the form that is recorded for replay.
struct StoredReply {
    int status = 200;
    std::string location = {};  // "": no Location header
    std::string body = {};
    std::optional<Timestamp> keep_until =
        {};  // when the recording expires; nullopt: after 24 hours
    bool replayed = false;
    bool is_secret = false;  // the body contains a secret and is recorded encrypted
};

// An Idempotency-Key and the hashes that identify its request.
struct IdempotencyClaim {
    std::string key_hash;   // SHA-256 of method, path and key
    std::string body_hash;  // SHA-256 of the canonical body
    Secret scope;  // the text that key_hash is the hash of; encrypts a reply that contains a secret
};

// Runs `work` in one transaction. With a claim, the changes and the record of the reply are
// committed together; a repeated request returns the recorded reply (`replayed` = true). If the
// first request commits while `work` runs, `work` is rolled back and its reply or error is
// discarded. Throws IDEMPOTENCY_CONFLICT if the body differs from the first request,
// IDEMPOTENCY_IN_PROGRESS if the first request has recorded its reply but does not commit in time,
// QUOTA_EXCEEDED if no reply can be recorded today.
// Any exception from `work` rolls back the transaction.
StoredReply transact(Context& context, const Actor& actor,
                     const std::optional<IdempotencyClaim>& claim,
                     const std::function<StoredReply(OrgTransaction&)>& work);
// Throws IDEMPOTENCY_CONFLICT if a reply is recorded for the key and another body. For a request
// that fails before transact(): a used key with an invalid body is a conflict too.
void reject_conflict(Context& context, OrgId organization, const IdempotencyClaim& claim);
// The same as transact() inside an open transaction. The changes and the record are committed or
// rolled back with it.
StoredReply transact_in(db::Tx& tx, const Context& context, const Actor& actor,
                        const std::optional<IdempotencyClaim>& claim,
                        const std::function<StoredReply(OrgTransaction&)>& work);

}  // namespace muster::service
