// The counts of a run, as text and as JSON. They add up: rows in the file = refused + staged,
// staged = valid + invalid, valid = created + attached + failed.
#pragma once

#include "client/api_client.hpp"
#include "client/column_guess.hpp"
#include "client/value_format.hpp"

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::client {

class Console;

// The exit codes of muster-import(1).
enum class ExitCode : int { AllIn = 0, Usage = 1, SomeNotIn = 2, Failed = 3, Stopped = 4 };

struct Summary {
    std::string file;  // "" = without a FILE
    std::uint64_t rows = 0;
    std::uint64_t refused_here = 0;  // rejected before anything was sent
    std::uint64_t values_left_out = 0;
    std::uint64_t rows_left_out = 0;             // rows that lose a value
    std::optional<ImportJob> job;                // as last seen
    std::optional<std::vector<ImportJob>> jobs;  // of --list
    std::string errors_file;                     // "" = none was written
    Json::Value error;                           // the error that ended the run, or null

    // Rows of the file that are not in the job: rejected here or by the server while staging.
    std::uint64_t refused() const;
    // All rows of the file that were not, or cannot be, imported.
    std::uint64_t missing() const;
};

// The columns that are used, a line each, and the names of the others.
struct MappingView {
    std::string file;  // "members.csv (separator ";", windows-1252)"
    const std::vector<ColumnRoute>& routes;
    const std::vector<ValueFormat>& formats;
    const rules::AttributeRegistry& registry;
};
[[nodiscard]] std::string mapping_text(const MappingView& view);
enum class Shortfall : std::uint8_t { NotImported, CannotBeImported };
// "3 of 10 rows were not imported; the reasons are in members-errors.csv". Also the values that are
// left out; "" if there are neither.
[[nodiscard]] std::string shortfall_text(const Summary& summary, Shortfall shortfall);
// A line of --list.
[[nodiscard]] std::string job_line(const ImportJob& job);
// After the dry run.
[[nodiscard]] std::string dry_run_text(const Summary& summary);
// At the end of a completed job.
[[nodiscard]] std::string final_text(const Summary& summary);
// The document of --json (muster-import(1)).
[[nodiscard]] std::string summary_json(const Summary& summary, ExitCode exit_code);

// Prints the error that ends the run, and records it for the document. Returns `exit_code`.
ExitCode fail_run(Console& console, Summary& summary, ExitCode exit_code, const std::string& text);

// AllIn if all rows of a completed job's file were imported, else SomeNotIn.
[[nodiscard]] ExitCode exit_code_of(const Summary& summary);

}  // namespace muster::client
