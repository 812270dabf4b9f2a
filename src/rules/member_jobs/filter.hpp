// The filter of a member job: the conditions of GET /v1/users that select several members. It is
// stored as JSON, in the form of the request.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/members/filter.hpp"
#include "rules/members/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// An absent condition matches every member.
struct MemberJobFilter {
    std::optional<MemberStatus> status = {};
    std::optional<std::string> country = {};
    std::optional<std::string> prefix = {};  // "q" in JSON
    std::optional<Timestamp> updated_since = {};
    std::optional<ImportId> imported_by = {};
    std::vector<AttributeCondition> attributes = {};

    bool operator==(const MemberJobFilter&) const = default;
};

[[nodiscard]] std::string filter_json(const MemberJobFilter& filter);
// Throws std::invalid_argument for anything but a text of filter_json() with a condition: a job
// must never run with fewer conditions than its creator sent.
[[nodiscard]] MemberJobFilter parse_filter(std::string_view json);

}  // namespace muster::rules
