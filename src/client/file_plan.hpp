// How the file is read: its columns, their targets, and the options for its values.
#pragma once

#include "base/time.hpp"
#include "client/column_guess.hpp"
#include "client/input_file.hpp"
#include "client/options.hpp"
#include "client/row_source.hpp"

#include <string>
#include <vector>

namespace muster::client {

// Refers to the file and the registry, which outlive it.
struct FilePlan {
    const InputFile& file;
    char separator;
    Header header;
    bool has_header;
    std::vector<ColumnRoute> routes;
    const rules::AttributeRegistry& registry;
    FormatOptions formats;
    Date today;
    bool rejects_bad_values;
};

// Reads the header. In a file without one, the column with the most addresses among the first rows
// is the address. Throws UsageError.
[[nodiscard]] FilePlan plan_file(const InputFile& file, const Options& options,
                                 const rules::AttributeRegistry& registry, Date today);

// `members.csv (separator ";", windows-1252, gzip)`
[[nodiscard]] std::string file_text(const FilePlan& plan);

}  // namespace muster::client
