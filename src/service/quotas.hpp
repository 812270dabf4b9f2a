// The daily limits of an organization (rules/quotas.hpp), counted in the transaction of the use.
#pragma once

#include "base/time.hpp"
#include "rules/quotas.hpp"

#include <cstdint>

namespace muster::db {
class OrgStore;
}

namespace muster::service {

constexpr std::int64_t bytes_of_mib(int mib) {
    return std::int64_t{mib} << 20U;
}

std::int64_t used_today(db::OrgStore& org, rules::Quota quota, Timestamp now);

// Counts a use. Many transactions of an organization can count at once; those of StagedBytes,
// IssuedKeys and MemberJobs wait for each other.
void add_use(db::OrgStore& org, rules::Quota quota, std::int64_t amount, Timestamp now);

// Throws QUOTA_EXCEEDED if today's uses have reached `most`. Transactions that run at the same time
// can exceed it by what they use.
void reject_used_up(db::OrgStore& org, rules::Quota quota, std::int64_t most, Timestamp now);

// The same for ReplyBytes, with few statements: a worker counts in its memory and writes the sum at
// times. So the workers together can exceed the limit by some hundred KiB each.
void reject_full_replies(db::OrgStore& org, std::int64_t most, Timestamp now);
void add_reply_bytes(db::OrgStore& org, std::int64_t bytes, std::int64_t most, Timestamp now);

// Counts a use of StagedBytes, IssuedKeys or MemberJobs, and throws QUOTA_EXCEEDED if it exceeds
// `most`. Exact.
void take(db::OrgStore& org, rules::Quota quota, std::int64_t amount, std::int64_t most,
          Timestamp now);

}  // namespace muster::service
