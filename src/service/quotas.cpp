#include "service/quotas.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/context.hpp"
#include "store/quotas.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace muster::service {
namespace {

using rules::Quota;

// The first transactions of a slot's day wait for each other, and so do later ones in one slot.
constexpr unsigned kSlots = 8;

// The row of a single slot remains locked until the transaction ends, so take() is exact.
bool has_one_slot(Quota quota) {
    return quota == Quota::StagedBytes || quota == Quota::IssuedKeys || quota == Quota::MemberJobs;
}

int slot_for(Quota quota) {
    if (has_one_slot(quota)) return 0;
    unsigned char drawn = 0;
    draw_random(&drawn, sizeof drawn);
    return static_cast<int>(drawn % kSlots);
}

std::string_view what(Quota quota) {
    switch (quota) {
        case Quota::StagedBytes:
            return "bytes of import rows and mappings";
        case Quota::ReplyBytes:
            return "bytes of recorded replies";
        case Quota::AuditEntries:
            return "entries in its audit log";
        case Quota::IssuedKeys:
            return "new keys";
        case Quota::MemberJobs:
            return "new member jobs";
        case Quota::TrackedBytes:
            return "bytes of tracked events";
        case Quota::IngestedBytes:
            return "bytes of ingested events";
        case Quota::MemberBytes:
            return "bytes of members and their webhook events";
    }
    return "";
}

std::string_view advice(Quota quota) {
    switch (quota) {
        case Quota::ReplyBytes:
            return "send the request without an Idempotency-Key where it is optional, or send it "
                   "later";
        case Quota::AuditEntries:
            return "reading and deleting still work; send other requests of admins later, or with "
                   "an API key";
        case Quota::MemberBytes:
            return "imports, reading and removing still work; send this request later";
        case Quota::StagedBytes:
        case Quota::IssuedKeys:
        case Quota::MemberJobs:
        case Quota::TrackedBytes:
        case Quota::IngestedBytes:
            break;
    }
    return "send it later";
}

[[noreturn]] void reject(Quota quota, std::int64_t used, std::int64_t most, Timestamp now) {
    const Timestamp end = rules::end_of_quota_day(now);
    throw Error(ErrorCode::QuotaExceeded)
        .detail("quota", std::string(text_of(quota)))
        .detail("maximum", Json::Int64(most))
        .detail("used", Json::Int64(used))
        .detail("frees_at", end.text())
        .detail("reason", "the organization has used " + std::to_string(used) + " of " +
                              std::to_string(most) + " " + std::string(what(quota)) +
                              " today (UTC); " + std::string(advice(quota)))
        .retry_after(static_cast<int>((end - now).count() / 1000) + 1);
}

// What a worker knows about a use that it counts in its memory.
struct KnownUse {
    std::int64_t day = 0;
    std::int64_t used = 0;     // as read when this worker last wrote
    std::int64_t pending = 0;  // committed by this worker since
    std::int64_t large = 0;    // the sum that is written
};
using UseKey = std::pair<OrgId, Quota>;

// A worker that knows this many uses forgets those without a pending sum, and then writes some sums
// after each batch.
constexpr std::size_t kMostKnown = 10'000;
constexpr std::size_t kSumsAtOnce = 100;
constexpr std::int64_t kMostPending = std::int64_t{256} << 10U;

std::map<UseKey, KnownUse>& known_uses() {
    thread_local std::map<UseKey, KnownUse> known;
    return known;
}
// The uses whose sum was large after a commit, and has not been written since.
std::set<UseKey>& large_sums() {
    thread_local std::set<UseKey> keys;
    return keys;
}

const KnownUse& known_use(db::OrgStore& org, Quota quota, std::int64_t most, Timestamp now) {
    const std::int64_t day = rules::quota_day_of(now);
    const auto [known, is_new] = known_uses().try_emplace({org.org(), quota});
    if (is_new || known->second.day != day) {
        known->second = {day, store::quota_use(org, quota, day), 0,
                         std::min(kMostPending, most / 64)};
    }
    return known->second;
}

void count_committed(const UseKey& key, std::int64_t day, std::int64_t bytes) {
    const auto known = known_uses().find(key);
    if (known == known_uses().end() || known->second.day != day) return;
    known->second.pending += bytes;
    if (known->second.pending >= known->second.large) large_sums().insert(key);
}

std::int64_t write_sum(db::Tx& tx, const UseKey& key, const KnownUse& known) {
    db::OrgStore org(tx, key.first);
    store::add_quota_use(org, key.second, known.day, slot_for(key.second), known.pending);
    return store::quota_use(org, key.second, known.day);
}

// In one transaction, for at most kSumsAtOnce keys. All workers lock the rows in the order of the
// keys. Returns whether they were written.
bool write_some_sums(db::Database& database, std::span<const UseKey> keys,
                     db::OnLockTimeout on_timeout) {
    auto& all = known_uses();
    std::map<UseKey, std::int64_t> used;
    try {
        database.transaction(
            [&](db::Tx& tx) {
                for (const UseKey& key : keys) used[key] = write_sum(tx, key, all.at(key));
            },
            on_timeout);
    } catch (const std::exception&) {
        return false;
    }
    for (const auto& [key, sum] : used) {
        all.at(key).used = sum;
        all.at(key).pending = 0;
    }
    return true;
}

// Stops at the first failure, which may have taken the time of a whole wait. The others are then
// written after the next batch. Returns whether all were written.
bool write_sums(db::Database& database, std::span<const UseKey> keys,
                db::OnLockTimeout on_timeout) {
    while (!keys.empty()) {
        const std::size_t count = std::min(keys.size(), kSumsAtOnce);
        if (!write_some_sums(database, keys.first(count), on_timeout)) break;
        keys = keys.subspan(count);
    }
    large_sums().insert(keys.begin(), keys.end());
    return keys.empty();
}

std::vector<UseKey> pending_uses(std::size_t most) {
    std::vector<UseKey> keys;
    for (const auto& [key, known] : known_uses()) {
        if (keys.size() == most) break;
        if (known.pending > 0) keys.push_back(key);
    }
    return keys;
}

// Nothing is lost: a use without a pending sum is read again when it is needed. A sum of a day that
// is over limits nothing.
void forget_written_uses() {
    const std::int64_t today = rules::quota_day_of(Timestamp::now());
    const auto is_needless = [&](const auto& use) {
        return use.second.pending == 0 || use.second.day != today;
    };
    std::erase_if(known_uses(), is_needless);
    std::erase_if(large_sums(), [](const UseKey& key) { return !known_uses().contains(key); });
}

}  // namespace

std::int64_t maximum_of(Quota quota, const LimitsSettings& limits) {
    switch (quota) {
        case Quota::StagedBytes:
            return bytes_of_mib(limits.staged_mib);
        case Quota::ReplyBytes:
            return bytes_of_mib(limits.reply_mib);
        case Quota::AuditEntries:
            return limits.audit_entries;
        case Quota::IssuedKeys:
            return rules::kMostIssuedKeys;
        case Quota::MemberJobs:
            return rules::kMostMemberJobs;
        case Quota::TrackedBytes:
            return bytes_of_mib(limits.tracked_mib);
        case Quota::IngestedBytes:
            return bytes_of_mib(limits.ingested_mib);
        case Quota::MemberBytes:
            return bytes_of_mib(limits.member_mib);
    }
    return 0;
}

std::int64_t used_today(db::OrgStore& org, Quota quota, Timestamp now) {
    return store::quota_use(org, quota, rules::quota_day_of(now));
}

void add_use(db::OrgStore& org, Quota quota, std::int64_t amount, Timestamp now) {
    store::add_quota_use(org, quota, rules::quota_day_of(now), slot_for(quota), amount);
}

// Locks the row of the day that has one slot. Not the organization's row: every insert of a record
// refers to it, also those of other organizations' transactions that record webhooks.
void lock_counts(db::OrgStore& org, Timestamp now) {
    add_use(org, Quota::IssuedKeys, 0, now);
}

void reject_used_up(db::OrgStore& org, Quota quota, std::int64_t most, Timestamp now) {
    const std::int64_t used = used_today(org, quota, now);
    if (used >= most) reject(quota, used, most, now);
}

void reject_full(const OrgTransaction& transaction, Quota quota, const LimitsSettings& limits) {
    db::OrgStore org(transaction.tx, transaction.org());
    const std::int64_t most = maximum_of(quota, limits);
    const KnownUse& known = known_use(org, quota, most, transaction.now);
    const std::int64_t used = known.used + known.pending;
    if (used >= most) reject(quota, used, most, transaction.now);
}

void count_bytes(const OrgTransaction& transaction, Quota quota, std::int64_t bytes) {
    const UseKey key{transaction.org(), quota};
    const std::int64_t day = rules::quota_day_of(transaction.now);
    transaction.tx.after_commit([=] { count_committed(key, day, bytes); });
}

void write_large_sums(db::Database& database) {
    const auto large = std::exchange(large_sums(), {});
    const std::vector keys(large.begin(), large.end());
    if (!write_sums(database, keys, db::OnLockTimeout::Throw)) return;
    if (known_uses().size() < kMostKnown) return;
    forget_written_uses();
    if (known_uses().size() < kMostKnown) return;
    (void)write_sums(database, pending_uses(kSumsAtOnce), db::OnLockTimeout::Throw);
}

void write_all_sums(db::Database& database) {
    forget_written_uses();
    (void)write_sums(database, pending_uses(known_uses().size()), db::OnLockTimeout::Retry);
}

void take(db::OrgStore& org, Quota quota, std::int64_t amount, std::int64_t most, Timestamp now) {
    add_use(org, quota, amount, now);
    const std::int64_t used = used_today(org, quota, now);
    if (used > most) reject(quota, used - amount, most, now);
}

}  // namespace muster::service
