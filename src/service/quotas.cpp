#include "service/quotas.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "store/quotas.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace muster::service {
namespace {

using rules::Quota;

// The first transactions of a slot's day wait for each other, and so do later ones in one slot.
constexpr unsigned kSlots = 8;

// A use that its transactions count under another lock of the organization has one slot.
bool is_counted_in_turn(Quota quota) {
    return quota == Quota::StagedBytes || quota == Quota::IssuedKeys || quota == Quota::MemberJobs;
}

int slot_for(Quota quota) {
    if (is_counted_in_turn(quota)) return 0;
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
        case Quota::StagedBytes:
        case Quota::IssuedKeys:
        case Quota::MemberJobs:
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

// What a worker knows about the replies of an organization.
struct KnownReplies {
    std::int64_t day = 0;
    std::int64_t used = 0;     // as read when this worker last wrote
    std::int64_t pending = 0;  // recorded by this worker since
};

// A worker forgets all organizations when it knows this many.
constexpr std::size_t kMostKnown = 10'000;
constexpr std::int64_t kMostPending = std::int64_t{256} << 10U;

KnownReplies& known_replies(db::OrgStore& org, Timestamp now) {
    thread_local std::unordered_map<OrgId, KnownReplies> all;
    if (all.size() >= kMostKnown) all.clear();
    const std::int64_t day = rules::quota_day_of(now);
    const auto [known, is_new] = all.try_emplace(org.org());
    if (is_new || known->second.day != day) {
        known->second = {day, store::quota_use(org, Quota::ReplyBytes, day), 0};
    }
    return known->second;
}

}  // namespace

std::int64_t used_today(db::OrgStore& org, Quota quota, Timestamp now) {
    return store::quota_use(org, quota, rules::quota_day_of(now));
}

void add_use(db::OrgStore& org, Quota quota, std::int64_t amount, Timestamp now) {
    store::add_quota_use(org, quota, rules::quota_day_of(now), slot_for(quota), amount);
}

void reject_used_up(db::OrgStore& org, Quota quota, std::int64_t most, Timestamp now) {
    const std::int64_t used = used_today(org, quota, now);
    if (used >= most) reject(quota, used, most, now);
}

void reject_full_replies(db::OrgStore& org, std::int64_t most, Timestamp now) {
    const KnownReplies& known = known_replies(org, now);
    const std::int64_t used = known.used + known.pending;
    if (used >= most) reject(Quota::ReplyBytes, used, most, now);
}

void add_reply_bytes(db::OrgStore& org, std::int64_t bytes, std::int64_t most, Timestamp now) {
    KnownReplies& known = known_replies(org, now);
    known.pending += bytes;
    if (known.pending < std::min(kMostPending, most / 64)) return;
    // If the transaction is rolled back, these bytes are not counted.
    add_use(org, Quota::ReplyBytes, std::exchange(known.pending, 0), now);
    known.used = used_today(org, Quota::ReplyBytes, now);
}

void take(db::OrgStore& org, Quota quota, std::int64_t amount, std::int64_t most, Timestamp now) {
    add_use(org, quota, amount, now);
    const std::int64_t used = used_today(org, quota, now);
    if (used > most) reject(quota, used - amount, most, now);
}

}  // namespace muster::service
