// The counts of a run, as text and as JSON. They add up: rows in the file = refused + staged,
// staged = valid + invalid, valid = created + attached + failed.
#pragma once

#include "client/api_client.hpp"
#include "client/column_guess.hpp"
#include "client/refusal.hpp"

#include <json/value.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::client {

// The exit codes of muster-import(1).
enum class ExitCode : int { AllIn = 0, Usage = 1, SomeNotIn = 2, Failed = 3, Stopped = 4 };

struct Summary {
    std::string file;
    std::uint64_t rows = 0;
    std::uint64_t refused_here = 0;  // rejected before anything was sent
    std::optional<ImportJob> job;    // as last seen
    std::string errors_file;         // "" = none was written
    Json::Value error;               // the error that ended the run, or null

    // Rows of the file that are not in the job: rejected here or by the server while staging.
    std::uint64_t refused() const;
    // All rows of the file that were not, or cannot be, imported.
    std::uint64_t missing() const;
};

// Counts rejected rows by column and code.
class RefusalCounts {
  public:
    void add(const Refusal& refusal);
    // A line for each column and code, the most frequent first, at most five:
    // "\n  2 rows: Birthday is "04/17"; use ... (--map 'Birthday=ignored' imports them without it)"
    [[nodiscard]] std::string text() const;

  private:
    struct Entry {
        Refusal first;
        std::uint64_t rows = 0;
    };
    std::map<std::pair<std::string, std::string>, Entry> entries_;  // by column and code
};

// The columns that are used, a line each, and the names of the others.
[[nodiscard]] std::string mapping_text(const std::string& file, char separator,
                                       const std::vector<ColumnRoute>& routes,
                                       const rules::AttributeRegistry& registry);
// "3 of 10 rows were not imported; the reasons are in members-errors.csv"; `outcome`: "were not
// imported".
[[nodiscard]] std::string shortfall_text(const Summary& summary, const std::string& outcome);
// After the dry run.
[[nodiscard]] std::string dry_run_text(const Summary& summary);
// At the end of a completed job.
[[nodiscard]] std::string final_text(const Summary& summary);
// The document of --json (muster-import(1)).
[[nodiscard]] std::string summary_json(const Summary& summary, ExitCode exit_code);

// AllIn if all rows of a completed job's file were imported, else SomeNotIn.
[[nodiscard]] ExitCode exit_code_of(const Summary& summary);

}  // namespace muster::client
