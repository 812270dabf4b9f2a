// What became of each row of an import: the listing and the error report (specification 2.5, 4.1).
#pragma once

#include "rules/records.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::service {

// Rows with a number above `after`, of one state if given; up to `limit` + 1, where the last tells
// that there is more. nullopt: no such job here.
std::optional<std::vector<rules::ImportRow>> list_import_rows(Context& context, OrgId organization,
                                                              ImportId id, std::int64_t after,
                                                              std::optional<rules::RowState> state,
                                                              int limit);

// Hands the error report over piece by piece, header line first; ends early when `sink` says false.
// Memory does not grow with the job. `raw`: cells exactly as staged, without the guard against
// spreadsheet formulas.
void write_error_report(Context& context, OrgId organization, ImportId id, bool raw,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace muster::service
