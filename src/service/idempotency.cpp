#include "service/idempotency.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "rules/seal_names.hpp"
#include "store/idempotency.hpp"

namespace muster::service {
namespace {

constexpr Milliseconds kKeep = std::chrono::days(1);

using store::IdempotencyRecord;

// A reply with a secret is encrypted twice: with a key derived from the Idempotency-Key, which the
// database does not store, and with the installation's key, which protects against guessing a short
// Idempotency-Key.
std::string seal_reply(const Context& context, const IdempotencyClaim& claim,
                       const std::string& body) {
    const Secret key(sha256("reply\n" + claim.scope.reveal()));
    return context.keys.seal(seal_under(key, body, claim.key_hash), rules::kReplySealName);
}

std::string open_reply(const Context& context, const IdempotencyClaim& claim,
                       const std::string& sealed) {
    const Secret key(sha256("reply\n" + claim.scope.reveal()));
    const auto inner = context.keys.open(sealed, rules::kReplySealName);
    const auto body = inner ? open_under(key, inner->reveal(), claim.key_hash) : std::nullopt;
    if (!body) {
        throw Error(ErrorCode::IdempotencyConflict)
            .detail("reason", "the recorded reply can no longer be decrypted");
    }
    return body->reveal();
}

// Returns nullopt if this transaction claimed the key, or the recorded reply if the request was
// already answered.
std::optional<StoredReply> claim_or_replay(const Context& context, db::OrgStore& org,
                                           const IdempotencyClaim& claim, Timestamp now) {
    const IdempotencyRecord fresh{claim.body_hash, 0, "", "", now + kKeep};
    try {
        if (store::claim_idempotency_key(org, claim.key_hash, fresh, now)) return std::nullopt;
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::LockTimeout) throw;
        throw Error(ErrorCode::IdempotencyInProgress).retry_after(1);
    }
    const auto recorded = store::find_idempotency_record(org, claim.key_hash);
    if (!recorded) throw db::RetryTransaction{"an idempotency key was released concurrently"};
    if (recorded->expires_at <= now) {
        store::delete_idempotency_key(org, claim.key_hash);
        return claim_or_replay(context, org, claim, now);
    }
    if (recorded->body_hash != claim.body_hash) throw Error(ErrorCode::IdempotencyConflict);
    StoredReply reply;
    reply.status = recorded->status;
    reply.location = recorded->location;
    reply.body = recorded->is_sealed ? open_reply(context, claim, recorded->body) : recorded->body;
    reply.replayed = true;
    return reply;
}

}  // namespace

StoredReply transact(Context& context, const Actor& actor,
                     const std::optional<IdempotencyClaim>& claim,
                     const std::function<StoredReply(OrgTransaction&)>& work) {
    return context.database.transaction(
        [&](db::Tx& tx) { return transact_in(tx, context, actor, claim, work); });
}

StoredReply transact_in(db::Tx& tx, const Context& context, const Actor& actor,
                        const std::optional<IdempotencyClaim>& claim,
                        const std::function<StoredReply(OrgTransaction&)>& work) {
    OrgTransaction transaction{tx, actor, Timestamp::now()};
    db::OrgStore org(tx, actor.organization);
    if (claim) {
        if (auto replay = claim_or_replay(context, org, *claim, transaction.now)) return *replay;
    }
    StoredReply reply = work(transaction);
    if (claim) {
        store::complete_idempotency_key(
            org, claim->key_hash,
            {claim->body_hash, reply.status, reply.location,
             reply.is_secret ? seal_reply(context, *claim, reply.body) : reply.body,
             reply.keep_until.value_or(transaction.now + kKeep), reply.is_secret});
    }
    return reply;
}

}  // namespace muster::service
