// What an organization has, in numbers, for the first page of the console (docs/api/organization.md
// "GET /v1/organization/summary").
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

// A number that is counted up to a bound, as the total of GET /v1/users is.
struct BoundedCount {
    std::int64_t count = 0;
    bool exact = true;
};

struct MemberCounts {
    BoundedCount active;
    BoundedCount locked;
    BoundedCount changed_in_7_days;
};

struct ActiveImport {
    ImportId id;
    std::string state;
    std::string file_name;
    std::int64_t staged_rows = 0;
    std::int64_t processed_rows = 0;
    std::int64_t invalid_rows = 0;
    Timestamp created_at;
};

struct TeamCounts {
    std::int64_t owners = 0;
    std::int64_t admins = 0;
    std::int64_t viewers = 0;
    std::int64_t invited_owners = 0;
    std::int64_t invited_others = 0;
};

struct KeyCounts {
    std::int64_t api_keys = 0;
    std::int64_t tracking_keys = 0;
    std::int64_t content_keys = 0;
    std::int64_t module_credentials = 0;
};

struct EndpointCounts {
    std::int64_t active = 0;
    std::int64_t failing = 0;
    std::int64_t paused = 0;
    std::int64_t disabled = 0;
};

struct ConnectionCounts {
    std::int64_t pending = 0;
    std::int64_t connected = 0;
    std::int64_t expired = 0;
    std::int64_t revoked = 0;
    std::int64_t error = 0;
};

struct ArticleCounts {
    std::int64_t published = 0;
    std::int64_t scheduled = 0;
    std::int64_t draft = 0;
};

struct AdTotals {
    std::int64_t impressions = 0;
    std::int64_t clicks = 0;
};

struct OrganizationSummary {
    OrgId organization_id;
    MemberCounts members;
    std::optional<ActiveImport> active_import;
    TeamCounts team;
    std::int64_t enabled_attributes = 0;
    KeyCounts valid_keys;
    KeyCounts keys_expiring_in_30_days;
    EndpointCounts webhook_endpoints;
    ConnectionCounts connections;
    ArticleCounts articles;
    AdTotals ads_in_7_days;
};

// Members are counted up to this number, as in the total of GET /v1/users.
inline constexpr std::int64_t kMostSummarized = 10'000;
inline constexpr Milliseconds kSummarizedChanges = std::chrono::days(7);
inline constexpr int kSummarizedAdDays = 7;  // today included
inline constexpr Milliseconds kSummarizedExpiry = std::chrono::days(30);

}  // namespace muster::rules
