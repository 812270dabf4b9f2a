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

// An absent condition matches every row.
struct RowFilter {
    std::vector<rules::RowState> states;
    std::optional<rules::RowError> error;
};

struct ImportRowPage {
    std::vector<rules::ImportRow> rows;
    std::optional<std::int64_t> next;  // `after` of the next page; nullopt on the last page
};
// At most `limit` rows with a number above `after` that match the filter. A page may hold fewer
// rows although more follow: it examines a bounded number of blocks, and large rows make it
// shorter, so that it is at most about 4 MiB. Returns nullopt if the organization does not have the
// job.
std::optional<ImportRowPage> list_import_rows(Context& context, OrgId organization, ImportId id,
                                              std::int64_t after, const RowFilter& filter,
                                              int limit);

// Passes the error report to `sink` in chunks, beginning with the header line; stops when `sink`
// returns false. Memory use does not depend on the size of the job. With `raw`, cells are written
// exactly as staged, without the guard against spreadsheet formulas.
void write_error_report(Context& context, OrgId organization, ImportId id, bool raw,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace muster::service
