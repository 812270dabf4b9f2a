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

// A page ends when it has read so many blocks or bytes of them, and examined a row. Row numbers
// that are far apart make many small blocks.
struct ReadLimits {
    std::size_t blocks;
    std::size_t bytes;
};

// A page of the error report.
struct ReportPage {
    std::int64_t after = 0;  // only rows with a number above it
    bool raw = false;        // cells exactly as staged, without the guard against formulas
    std::size_t most_bytes = std::size_t{32} << 20U;
    ReadLimits limits{.blocks = 4'096, .bytes = std::size_t{64} << 20U};
};
// Passes the page to `sink` in chunks, beginning with the header line. The page ends before its
// text exceeds `most_bytes`, but examines at least one row. Returns `after` of the next page;
// nullopt on the last page.
std::optional<std::int64_t> write_error_report(Context& context, OrgId organization, ImportId id,
                                               const ReportPage& page,
                                               const std::function<void(std::string_view)>& sink);

}  // namespace muster::service
