#include "service/context.hpp"

#include "base/error.hpp"
#include "store/idempotency.hpp"

namespace muster::service {
namespace {

constexpr Milliseconds kKeep{24 * 3600 * 1000};

using store::IdempotencyRecord;

// Nothing when the key is this transaction's now; the recorded reply when it was answered before.
std::optional<StoredReply> claim_or_replay(db::OrgStore& org, const IdempotencyClaim& claim,
                                           Timestamp now) {
    const IdempotencyRecord fresh{claim.body_hash, 0, "", "", now + kKeep};
    try {
        if (store::claim_idempotency_key(org, claim.key_hash, fresh, now)) return std::nullopt;
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::LockTimeout) throw;
        throw Error(ErrorCode::IdempotencyInProgress).retry_after(1);
    }
    const auto recorded = store::find_idempotency_record(org, claim.key_hash);
    if (!recorded) throw db::RetryTransaction{"an idempotency key was given up meanwhile"};
    if (recorded->expires_at <= now) {
        store::delete_idempotency_key(org, claim.key_hash);
        return claim_or_replay(org, claim, now);
    }
    if (recorded->body_hash != claim.body_hash) throw Error(ErrorCode::IdempotencyConflict);
    return StoredReply{recorded->status, recorded->location, recorded->body, std::nullopt, true};
}

}  // namespace

StoredReply transact(Context& context, const Actor& actor,
                     const std::optional<IdempotencyClaim>& claim,
                     const std::function<StoredReply(Unit&)>& work) {
    return context.database.transaction([&](db::Tx& tx) {
        Unit unit{tx, actor, Timestamp::now()};
        db::OrgStore org(tx, actor.organization);
        if (claim) {
            if (auto replay = claim_or_replay(org, *claim, unit.now)) return *replay;
        }
        StoredReply reply = work(unit);
        if (claim) {
            store::complete_idempotency_key(
                org, claim->key_hash,
                {claim->body_hash, reply.status, reply.location, reply.body,
                 reply.keep_until.value_or(unit.now + kKeep)});
        }
        return reply;
    });
}

}  // namespace muster::service
