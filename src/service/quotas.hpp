// The daily limits of an organization (rules/quotas.hpp), counted in the transaction of the use.
#pragma once

#include "base/time.hpp"
#include "rules/quotas.hpp"

#include <cstdint>

namespace muster {
struct LimitsSettings;
}

namespace muster::db {
class Database;
class OrgStore;
}  // namespace muster::db

namespace muster::service {

struct OrgTransaction;

constexpr std::int64_t bytes_of_mib(int mib) {
    return std::int64_t{mib} << 20U;
}

// The bound of a day.
std::int64_t maximum_of(rules::Quota quota, const LimitsSettings& limits);

std::int64_t used_today(db::OrgStore& org, rules::Quota quota, Timestamp now);

// Counts a use. Many transactions of an organization can count at once; those of StagedBytes,
// IssuedKeys and MemberJobs wait for each other.
void add_use(db::OrgStore& org, rules::Quota quota, std::int64_t amount, Timestamp now);

// Until the transaction ends, others of the organization wait here, so that records with a bound on
// their number are counted exactly. Those that issue keys wait too, others do not.
void lock_counts(db::OrgStore& org, Timestamp now);

// Throws QUOTA_EXCEEDED if today's uses have reached `most`. Transactions that run at the same time
// can exceed it by what they use.
void reject_used_up(db::OrgStore& org, rules::Quota quota, std::int64_t most, Timestamp now);

// The same for ReplyBytes, TrackedBytes, IngestedBytes and MemberBytes, with few statements: a
// worker counts in its memory, and writes the sum after a batch once it reaches 256 KiB or 1/64 of
// the limit. So the workers together can exceed the limit by that amount and by one batch each.
//
// Throws QUOTA_EXCEEDED. Reads the uses of the day if the worker does not know them.
void reject_full(const OrgTransaction& transaction, rules::Quota quota,
                 const LimitsSettings& limits);
// Counts after the commit. Call reject_full() before it, in the same transaction.
void count_bytes(const OrgTransaction& transaction, rules::Quota quota, std::int64_t bytes);
// Write the sums that have reached that amount, or all sums of the day, at most 100 in one
// transaction. They do not throw: a sum that cannot be written remains in the worker's memory, and
// is written after a later batch. A worker that knows 10,000 uses also writes smaller sums, at most
// 100 after each batch, and forgets what is written.
void write_large_sums(db::Database& database);
void write_all_sums(db::Database& database);

// Counts a use of StagedBytes, IssuedKeys or MemberJobs, and throws QUOTA_EXCEEDED if it exceeds
// `most`. Exact.
void take(db::OrgStore& org, rules::Quota quota, std::int64_t amount, std::int64_t most,
          Timestamp now);

}  // namespace muster::service
