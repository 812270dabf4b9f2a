// A job of an earlier run: whether it belongs to the file, and whether it holds the file's rows.
#pragma once

#include "client/api_client.hpp"
#include "client/input_file.hpp"
#include "client/options.hpp"

#include <cstdint>
#include <string>

namespace muster::client {

// The name of the job on the server: the file's name without its folders, or a general name.
[[nodiscard]] std::string job_file_name(const std::string& path);

// `rows`: those of the file that are sent. Throws UsageError for a job of another file, for one
// that holds more rows, and for one that is too late for --dry-run.
void require_resumable(const Options& options, const ImportJob& job, std::uint64_t rows);

// For a validated job that this run has not staged: why all rows of the file must be sent again, as
// a line for the person; "" if the job holds the rows as they are in the file.
[[nodiscard]] std::string resend_reason(const Options& options, const ImportJob& job,
                                        const InputFile& file, std::uint64_t rows);

// Throws UsageError with both numbers if the job holds more rows than the `rows` of the file.
void refuse_surplus(const Options& options, const ImportJob& job, std::uint64_t rows);

// "cancel it:", and the command.
[[nodiscard]] std::string cancel_advice(const Options& options, std::string_view job);

// What to do about an active job that prevents a new one. It can be resumed only with the file that
// it was created for.
[[nodiscard]] std::string active_job_advice(const Options& options, const ImportJob& active);

}  // namespace muster::client
