// The result of each row of an import: the listing and the error report (specification 2.5, 4.1).
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
// At most `limit` rows with a number above `after`, of one state if given. A page of large rows is
// shorter, so that it is at most about 4 MiB. Returns nullopt if the organization does not have the
// job.
std::optional<ImportRowPage> list_import_rows(Context& context, OrgId organization, ImportId id,
                                              std::int64_t after,
                                              std::optional<rules::RowState> state, int limit);

// Passes the error report to `sink` in chunks, beginning with the header line; stops when `sink`
// returns false. Memory use does not depend on the size of the job. With `raw`, cells are written
// exactly as staged, without the guard against spreadsheet formulas.
void write_error_report(Context& context, OrgId organization, ImportId id, bool raw,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace muster::service
