// A person's right to erasure, over all organizations: `musterctl user erase`.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// What one organization held of the person.
struct ErasedHere {
    OrgId organization;
    std::string name;
    std::optional<MemberId> member;
    std::int64_t import_rows = 0;  // staged rows of ended jobs
    std::int64_t replies = 0;      // recorded for Idempotency-Keys
    std::int64_t events = 0;       // engagement events of the membership
    std::int64_t webhooks = 0;     // webhook events about the user, with their deliveries
};

struct KeptJob {
    OrgId organization;
    ImportId id;
};

struct Erasure {
    std::optional<UserId> user;
    std::vector<ErasedHere> organizations;  // those that held something
    std::vector<KeptJob> active_jobs;       // hold rows of the person, which were left alone
    std::vector<KeptJob> unreadable_jobs;   // hold the address in bytes that cannot be decoded
    bool is_admin = false;                  // an admin has this address: untouched

    bool is_complete() const { return active_jobs.empty() && unreadable_jobs.empty(); }
};

// What erase_person() would remove. Writes nothing.
Erasure preview_erasure(Context& context, std::string_view email);

// Removes the events that tell of the person, in short transactions that the user and the member
// rows outlive, so that they are found again; the user, every member row and the events that came
// meanwhile in one transaction; then organization by organization the texts of the person's staged
// rows in ended jobs (number and outcome stay) and the recorded replies that hold the address, in
// short transactions: interrupted anywhere, it is completed by doing it again. Noted as user.erased
// in the log of each organization concerned. Both throw std::invalid_argument for what is no
// address.
Erasure erase_person(Context& context, std::string_view email);

}  // namespace muster::service
