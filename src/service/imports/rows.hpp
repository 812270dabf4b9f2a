// What became of each row of an import: the listing and the error report (specification 2.5, 4.1).
#pragma once

#include "rules/imports/jobs.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::service {

struct ImportRowPage {
    std::vector<rules::ImportRow> rows;
    bool has_more = false;
};
// At most `limit` rows with a number above `after`, of one state if given; fewer when they are
// heavy, so that a page stays a few MiB. nullopt: no such job here.
std::optional<ImportRowPage> list_import_rows(Context& context, OrgId organization, ImportId id,
                                              std::int64_t after,
                                              std::optional<rules::RowState> state, int limit);

// Hands the error report over piece by piece, header line first; ends early when `sink` says false.
// Memory does not grow with the job. `raw`: cells exactly as staged, without the guard against
// spreadsheet formulas.
void write_error_report(Context& context, OrgId organization, ImportId id, bool raw,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace muster::service
