// Which effects of an import's rows an undo takes back (docs/api/imports-undo.md
// "POST /v1/imports/{id}/undo"). Compares what a row wrote with the member as it is now. Pure
// functions.
#pragma once

#include "rules/imports/block.hpp"
#include "rules/imports/jobs.hpp"
#include "rules/members/member.hpp"

#include <optional>

namespace muster::rules {

struct RowUndo {
    RowOutcome outcome;             // unchanged if there is nothing to take back
    std::optional<Member> emptied;  // the member without the values that the row filled
};

// `outcome`: that of a committed row. `member`: the member of its user, or nullptr. `has_events`:
// whether engagement events of the member exist.
[[nodiscard]] RowUndo undo_row(const StagedRow& row, const RowOutcome& outcome,
                               const Member* member, bool has_events);

// Counts the rows of a block by what an undo did. `before` and `after`: the outcomes. `committed`:
// only the rows that the commit left in this state; nullopt: all committed rows.
[[nodiscard]] ImportUndo count_undo(const std::vector<RowOutcome>& before,
                                    const std::vector<RowOutcome>& after,
                                    std::optional<RowState> committed = std::nullopt);

// The counts of a sample, scaled to `total` rows; unchanged if the sample has them all.
[[nodiscard]] ImportUndo scaled(const ImportUndo& sample, std::int64_t total);

}  // namespace muster::rules
