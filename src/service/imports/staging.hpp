// Staging the rows of an import (docs/api/imports.md "POST /v1/imports/{id}/rows").
#pragma once

#include "rules/members/fields.hpp"
#include "service/context.hpp"
#include "service/imports/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {
struct LimitsSettings;
}

namespace muster::service {

struct NewRow {
    std::int64_t number = 0;
    rules::MemberFields fields;
};
// Stages all rows or none. A row replaces the staged row with the same number. Throws
// VALIDATION_ERROR if a number is repeated or too much is rewritten (kMostRewrittenBytes),
// NOT_FOUND, IMPORT_JOB_INVALID_STATE, IMPORT_ROW_LIMIT_EXCEEDED, QUOTA_EXCEEDED.
void stage_rows(OrgTransaction& transaction, const LimitsSettings& limits, ImportId id,
                const std::vector<NewRow>& rows);

}  // namespace muster::service
