// What every use-case needs, and the two ways to work on the database: a Unit writes for one
// organization inside one transaction; reads open their own session. Only service/ opens either.
#pragma once

#include "base/ids.hpp"
#include "base/sealing.hpp"
#include "base/settings.hpp"
#include "base/time.hpp"
#include "rules/cursor.hpp"
#include "service/ads/serving_cache.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::db {
class Database;
class Tx;
}  // namespace muster::db

namespace muster::service {

struct Context {
    db::Database& database;
    const Settings& settings;
    rules::CursorSealer cursors;
    KeyRing keys;
    AdDesk ads{keys};
};

// Who acts, for which organization: from the credential.
struct Actor {
    OrgId organization;
    std::optional<AdminId> admin = {};  // nullopt: the organization's own key, or the operator
    std::optional<ApiKeyId> api_key = {};
    std::string request_id = {};  // "" outside a request
};

// One transaction of one organization.
struct Unit {
    db::Tx& tx;
    Actor actor;
    Timestamp now;

    const OrgId& org() const { return actor.organization; }
};

// A reply as it is recorded for replay.
struct StoredReply {
    int status = 200;
    std::string location;  // "" = none
    std::string body;
    std::optional<Timestamp> keep_until;  // of the recording; nullopt: 24 hours
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
                     const std::function<StoredReply(Unit&)>& work);
// The same inside a transaction that is open: the key, the effect and the reply stand or fall with
// it.
StoredReply transact_in(db::Tx& tx, const Context& context, const Actor& actor,
                        const std::optional<IdempotencyClaim>& claim,
                        const std::function<StoredReply(Unit&)>& work);

}  // namespace muster::service
