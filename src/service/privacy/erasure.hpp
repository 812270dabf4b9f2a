// Erases a person from all organizations: `musterctl user erase`.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// The data that one organization held of the person.
struct OrganizationErasure {
    OrgId organization;
    std::string name;
    std::optional<MemberId> member;
    std::int64_t import_rows = 0;  // staged rows of ended jobs
    std::int64_t replies = 0;      // recorded for Idempotency-Keys
    std::int64_t events = 0;       // engagement events of the membership
    std::int64_t webhooks = 0;     // webhook events about the user, with their deliveries
    bool is_invited = false;       // to a seat in the team
};

struct KeptJob {
    OrgId organization;
    ImportId id;
};

struct Erasure {
    std::optional<UserId> user;
    std::vector<OrganizationErasure> organizations;  // organizations that held data
    std::vector<KeptJob> active_jobs;                // hold rows of the person; not changed
    std::vector<KeptJob> unreadable_jobs;  // hold the address in data that cannot be decoded
    bool is_admin = false;                 // an admin has this address; not changed

    bool is_complete() const { return active_jobs.empty() && unreadable_jobs.empty(); }
};

// Returns what erase_person() would erase. Writes nothing.
Erasure preview_erasure(Context& context, std::string_view email);

// Longer than a request with a tracked event or a shown ad usually takes, waits for the disk
// included.
inline constexpr Milliseconds kWritingTime{1000};

// Erases the person in steps:
// 1. in short transactions, the person's engagement and webhook events. The user and member rows
//    remain until then, so that an interrupted run finds them again;
// 2. in one transaction, the user, all member rows and events that arrived in the meantime;
// 3. for `writing_time`, events of requests that had found the member before. They stay if the run
//    is interrupted here;
// 4. for each organization in short transactions, the texts of the person's staged rows in ended
//    jobs (row number and outcome remain) and the recorded replies that contain the address.
// An interrupted erasure is completed by running it again. Audited as user.erased in the log of
// each organization concerned. Both functions throw std::invalid_argument if the address is
// invalid.
Erasure erase_person(Context& context, std::string_view email,
                     Milliseconds writing_time = kWritingTime);

}  // namespace muster::service
