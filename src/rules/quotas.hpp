// What an organization may use in a day (UTC), so that what it stores is bounded
// (docs/api/limits.md "Limits of a day").
#pragma once

#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace muster::rules {

enum class Quota : std::uint8_t {
    StagedBytes,    // rows and mappings of imports
    ReplyBytes,     // recorded replies of Idempotency-Keys
    AuditEntries,   // of the organization's log
    IssuedKeys,     // API keys, publishable keys and credentials of modules
    MemberJobs,     // also those that were canceled
    TrackedBytes,   // events of pages, whose key is public
    IngestedBytes,  // signed events of modules
    MemberBytes,    // members created or changed without an import, with their webhook events
};

// Ended keys are kept for 30 days, so the number of new ones is bounded too.
inline constexpr std::int64_t kMostIssuedKeys = 1'000;
// Member jobs are kept for 30 days, each with a filter of up to 20 KiB. This bounds their number to
// 31 times as many. The limit of one active job does not, because a canceled job no longer counts.
inline constexpr std::int64_t kMostMemberJobs = 200;

// What rows take in the database in addition to their texts, indexes included (docs/scale.md
// "Sizes"). A member counts with its user.
inline constexpr std::int64_t kMemberRowBytes = 800;
inline constexpr std::int64_t kWebhookEventRowBytes = 300;
inline constexpr std::int64_t kAuditEntryBytes = 200;

constexpr std::int64_t quota_day_of(Timestamp when) {
    return when.milliseconds() / Milliseconds(std::chrono::days(1)).count();
}
// When the uses of this day no longer count.
constexpr Timestamp end_of_quota_day(Timestamp when) {
    return Timestamp((quota_day_of(when) + 1) * Milliseconds(std::chrono::days(1)).count());
}

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::Quota> = {
    Name{rules::Quota::StagedBytes, "staged_bytes"},
    Name{rules::Quota::ReplyBytes, "reply_bytes"},
    Name{rules::Quota::AuditEntries, "audit_entries"},
    Name{rules::Quota::IssuedKeys, "issued_keys"},
    Name{rules::Quota::MemberJobs, "member_jobs"},
    Name{rules::Quota::TrackedBytes, "tracked_bytes"},
    Name{rules::Quota::IngestedBytes, "ingested_bytes"},
    Name{rules::Quota::MemberBytes, "member_bytes"}};

}  // namespace muster
