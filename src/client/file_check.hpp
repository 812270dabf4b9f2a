// The reading of the whole file before anything is created: guesses the formats of the columns,
// counts the rows, and finds the faults of their values.
#pragma once

#include "client/error_report.hpp"
#include "client/fault_counts.hpp"
#include "client/file_plan.hpp"
#include "client/format_guess.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::client {

class Converter;

struct CheckedFile {
    std::shared_ptr<const Converter> converter;
    std::vector<ValueFormat> formats;  // of the columns
    std::uint64_t rows = 0;
    std::uint64_t refused = 0;
    std::uint64_t values_left_out = 0;
    std::uint64_t rows_left_out = 0;  // rows that lose a value
    FaultCounts refusals;
    FaultCounts left_out;
};

// A record's address, if it can be read, and its faults.
struct CheckedRecord {
    std::string email;
    std::vector<RowFault> faults;
    bool is_rejected;
};
[[nodiscard]] CheckedRecord check_record(const Converter& converter,
                                         const std::vector<std::string>& cells);

// Decides the order of a date that shows neither: "03/07/1985" of a column. Throws UsageError.
using DateQuestion = std::function<DateOrder(const FormatGuess::Ambiguity&)>;

// Writes the rows with faults to `report`. Reads the file once, and again if its first rows and the
// whole file lead to different formats. Throws UsageError, and Stopped as soon as `stop` is set.
[[nodiscard]] CheckedFile check_file(const FilePlan& plan, ErrorReport& report,
                                     const DateQuestion& decide, const std::atomic<bool>& stop);

// The faults by reason, and the file that has the rows: "" if there are none.
[[nodiscard]] std::string faults_text(const CheckedFile& checked, const std::string& errors_file);

}  // namespace muster::client
