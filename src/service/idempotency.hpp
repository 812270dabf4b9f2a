// Idempotency-Key (docs/api/idempotency.md "Idempotency"): a repeated request gets the recorded
// reply.
#pragma once

#include "service/context.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::service {

// A reply as it is recorded for replay.
struct StoredReply {
    int status = 200;
    std::string location = {};  // "" = none
    std::string body = {};
    std::optional<Timestamp> keep_until = {};  // of the recording; nullopt: 24 hours
    bool replayed = false;
    bool is_secret = false;  // the body shows a secret: it is recorded sealed
};

// An Idempotency-Key with all that it stands for.
struct IdempotencyClaim {
    std::string key_hash;   // SHA-256 of method, path and key
    std::string body_hash;  // SHA-256 of the canonical body
    Secret scope;           // what key_hash is of: seals a reply that shows a secret
};

// Runs `work` in one transaction. With a claim, the key, the effect and the reply are committed
// together: a repeated request gets the recorded reply (replayed = true) and `work` does not run.
// Throws Error IDEMPOTENCY_CONFLICT for another body, IDEMPOTENCY_IN_PROGRESS when the first
// request still runs after 5 s; whatever `work` throws undoes everything.
StoredReply transact(Context& context, const Actor& actor,
                     const std::optional<IdempotencyClaim>& claim,
                     const std::function<StoredReply(OrgTransaction&)>& work);
// The same inside a transaction that is open: the key, the effect and the reply stand or fall with
// it.
StoredReply transact_in(db::Tx& tx, const Context& context, const Actor& actor,
                        const std::optional<IdempotencyClaim>& claim,
                        const std::function<StoredReply(OrgTransaction&)>& work);

}  // namespace muster::service
