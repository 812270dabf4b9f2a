#include "service/idempotency.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "rules/seal_names.hpp"
#include "service/idempotency_records.hpp"
#include "service/quotas.hpp"

#include <algorithm>

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
            .detail("reason",
                    "the recorded reply can no longer be decrypted; the first request succeeded: "
                    "list the records to find its result, and use a new key for a new request");
    }
    return body->reveal();
}

// A record takes about 200 bytes in addition to its texts.
std::int64_t stored_bytes(const IdempotencyRecord& record) {
    return 200 + static_cast<std::int64_t>(record.location.size() + record.body.size());
}

// The stored hash of a body. Bodies hold addresses and few other unknown values, so the hash has a
// key, which the database does not store: with a plain hash, a copy of the database would confirm a
// guess.
std::string keyed_hash(const IdempotencyClaim& claim) {
    return hmac_sha256(sha256("body\n" + claim.scope.reveal()), claim.body_hash);
}

// Programs of schema version 7 and older recorded the plain hash.
bool is_same_body(const IdempotencyRecord& recorded, const IdempotencyClaim& claim) {
    return recorded.body_hash == keyed_hash(claim) || recorded.body_hash == claim.body_hash;
}

// Runs a step that waits for the first request with a key.
template <class Step>
auto answer_lock_timeout(const Step& step) {
    try {
        return step();
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::LockTimeout) throw;
        throw Error(ErrorCode::IdempotencyInProgress).retry_after(1);
    }
}

}  // namespace

StoredReply transact(Context& context, const Actor& actor,
                     const std::optional<IdempotencyClaim>& claim,
                     const std::function<StoredReply(OrgTransaction&)>& work) {
    return context.database.transaction(
        [&](db::Tx& tx) { return transact_in(tx, context, actor, claim, work); });
}

void reject_conflict(Context& context, OrgId organization, const IdempotencyClaim& claim) {
    const auto recorded = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_idempotency_records(org, {&claim.key_hash, 1}, store::RecordLock::None);
    });
    const bool is_used = !recorded.empty() && recorded.front().expires_at > Timestamp::now();
    if (is_used && !is_same_body(recorded.front(), claim)) {
        throw Error(ErrorCode::IdempotencyConflict);
    }
}

StoredReply transact_in(db::Tx& tx, const Context& context, const Actor& actor,
                        const std::optional<IdempotencyClaim>& claim,
                        const std::function<StoredReply(OrgTransaction&)>& work) {
    OrgTransaction transaction{tx, actor, Timestamp::now()};
    if (!claim) return work(transaction);
    const IdempotencyClaim* const claims[] = {&*claim};
    IdempotencyRecords records(context, transaction, claims, store::RecordLock::Share);
    if (auto replay = records.find(*claim)) return *replay;
    try {
        StoredReply reply = work(transaction);
        const ClaimedReply claimed{&*claim, &reply};
        records.record({&claimed, 1});
        return reply;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::IdempotencyInProgress) records.retry_if_recorded(claims);
        throw;
    }
}

IdempotencyRecords::IdempotencyRecords(const Context& context, const OrgTransaction& transaction,
                                       std::span<const IdempotencyClaim* const> claims,
                                       store::RecordLock lock)
    : context_(context), transaction_(transaction), org_(transaction.tx, transaction.org()) {
    answer_lock_timeout([&] { look_up(claims, lock); });
}

void IdempotencyRecords::look_up(std::span<const IdempotencyClaim* const> claims,
                                 store::RecordLock lock) {
    std::vector<std::string> hashes;
    hashes.reserve(claims.size());
    for (const IdempotencyClaim* claim : claims) hashes.push_back(claim->key_hash);
    for (auto& record : store::find_idempotency_records(org_, hashes, lock)) {
        records_.insert_or_assign(record.key_hash, std::move(record));
    }
}

bool IdempotencyRecords::is_current(const IdempotencyClaim& claim) const {
    const auto found = records_.find(claim.key_hash);
    return found != records_.end() && found->second.expires_at > transaction_.now;
}

std::optional<StoredReply> IdempotencyRecords::find(const IdempotencyClaim& claim) {
    if (!is_current(claim)) {
        reject_full(transaction_, rules::Quota::ReplyBytes, context_.settings.limits);
        return std::nullopt;
    }
    const IdempotencyRecord& recorded = records_.at(claim.key_hash);
    if (!is_same_body(recorded, claim)) throw Error(ErrorCode::IdempotencyConflict);
    StoredReply reply;
    reply.status = recorded.status;
    reply.location = recorded.location;
    reply.body = recorded.is_sealed ? open_reply(context_, claim, recorded.body) : recorded.body;
    reply.replayed = true;
    return reply;
}

void IdempotencyRecords::record(std::span<const ClaimedReply> replies) {
    std::vector<IdempotencyRecord> records;
    std::vector<std::string> expired;
    for (const auto& [claim, reply] : replies) {
        if (records_.contains(claim->key_hash)) expired.push_back(claim->key_hash);
        records.push_back(
            {claim->key_hash, keyed_hash(*claim), reply->status, reply->location,
             reply->is_secret ? seal_reply(context_, *claim, reply->body) : reply->body,
             reply->keep_until.value_or(transaction_.now + kKeep), reply->is_secret});
    }
    // In one order, so that two transactions with the same keys do not deadlock.
    std::ranges::sort(records, {}, &IdempotencyRecord::key_hash);
    const bool is_first = answer_lock_timeout([&] {
        store::delete_expired_idempotency_records(org_, expired, transaction_.now);
        return store::insert_idempotency_records(org_, records, transaction_.now);
    });
    if (!is_first) throw db::RetryTransaction{"an idempotency key was recorded concurrently"};
    std::int64_t bytes = 0;
    for (const IdempotencyRecord& record : records) bytes += stored_bytes(record);
    count_bytes(transaction_, rules::Quota::ReplyBytes, bytes);
}

void IdempotencyRecords::retry_if_recorded(std::span<const IdempotencyClaim* const> claims) {
    look_up(claims, store::RecordLock::None);
    for (const IdempotencyClaim* claim : claims) {
        if (is_current(*claim)) {
            throw db::RetryTransaction{"the first request with an idempotency key has ended"};
        }
    }
}

}  // namespace muster::service
