#include "client/file_plan.hpp"

#include "base/command_line.hpp"
#include "base/email.hpp"
#include "base/text.hpp"
#include "client/cell_text.hpp"
#include "client/column_key.hpp"
#include "client/error_report.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace muster::client {
namespace {

constexpr std::string_view kIgnored = "ignored";  // the target of any number of columns

// The maps of the command line, and those of the profile for columns of this file. A target that
// the command line names is not taken twice.
std::vector<MapOption> all_maps(const Options& options, const std::vector<std::string>& columns) {
    std::vector<MapOption> maps = options.maps;
    for (const MapOption& map : options.profile_maps) {
        const auto column = std::ranges::find(columns, column_key(map.column), column_key);
        const bool is_named = std::ranges::any_of(maps, [&](const MapOption& other) {
            const bool is_taken = map.target != kIgnored && other.target == map.target;
            return is_taken || column_key(other.column) == column_key(map.column);
        });
        if (column != columns.end() && !is_named) maps.push_back({*column, map.target});
    }
    return maps;
}

// The column that holds addresses, among the first rows; "" if there is none.
std::string address_column(const InputFile& file, char separator, Header header) {
    constexpr std::uint32_t kFirstRows = 1000;
    RowSource source(file, separator, header);
    std::vector<std::uint32_t> addresses(source.columns().size());
    std::vector<std::string> cells;
    std::uint32_t number = 0;
    while (number < kFirstRows && source.next(cells, number)) {
        for (std::size_t i = 0; i < std::min(cells.size(), addresses.size()); ++i) {
            std::string cell(cell_text(cells[i]));
            if (is_utf8(cell) && !normalize_email(cell)) ++addresses[i];
        }
    }
    const auto best = std::ranges::max_element(addresses);
    if (best == addresses.end() || *best == 0) return "";
    return source.columns()[static_cast<std::size_t>(best - addresses.begin())];
}

bool names_give_email(const std::vector<std::string>& columns, const std::vector<MapOption>& maps,
                      const rules::AttributeRegistry& registry) {
    try {
        static_cast<void>(route_columns(columns, maps, registry));
        return true;
    } catch (const UsageError&) {
        return false;
    }
}

// The header of an error report is not a row, even if its file had none.
Header header_of(const InputFile& file, const Options& options) {
    if (!options.no_header) return Header::Guess;
    const RowSource source(file, options.separator, Header::Guess);
    return is_report_header(source.columns()) ? Header::Guess : Header::None;
}

}  // namespace

FilePlan plan_file(const InputFile& file, const Options& options,
                   const rules::AttributeRegistry& registry, Date today) {
    const Header header = header_of(file, options);
    const RowSource source(file, options.separator, header);
    std::vector<MapOption> maps = all_maps(options, source.columns());
    const bool has_email = std::ranges::find(maps, "email", &MapOption::target) != maps.end();
    // The error report of a file without column names has the names that the file was given.
    const bool is_named =
        source.has_header() && (source.columns().front() != "column 1" ||
                                names_give_email(source.columns(), maps, registry));
    if (!is_named && !has_email) {
        const std::string column = address_column(file, options.separator, header);
        if (!column.empty()) maps.push_back({column, "email"});
    }
    return {.file = file,
            .separator = source.separator(),
            .header = header,
            .has_header = source.has_header(),
            .routes = route_columns(source.columns(), maps, registry),
            .registry = registry,
            .formats = options.formats,
            .today = today,
            .rejects_bad_values = options.reject_bad_values};
}

std::string file_text(const FilePlan& plan) {
    std::string text = plan.file.name() + " (separator ";
    text += plan.separator == '\t' ? std::string("tab") : std::string("\"") + plan.separator + "\"";
    if (plan.file.encoding() != "UTF-8") text += ", " + plan.file.encoding();
    if (plan.file.is_compressed()) text += ", gzip";
    return text + ")";
}

}  // namespace muster::client
