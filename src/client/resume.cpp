#include "client/resume.hpp"

#include "base/command_line.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/console.hpp"

#include <algorithm>
#include <optional>

namespace muster::client {
namespace {

using rules::ImportState;

// What clock_lag does not show of the difference between the clocks of this machine and of the
// service.
constexpr Milliseconds kClockDifference{60'000};

std::string cancel_advice_of(const Options& options, const ImportJob& job,
                             std::string_view before) {
    if (!rules::can_cancel(job.state)) return "";
    return std::string(before) + cancel_advice(options, job.id);
}

// Whether the rows may be read in another way than in the run that created the job.
bool has_reading_options(const Options& options) {
    return !options.maps.empty() || !options.profile_maps.empty() ||
           !options.formats.columns.empty() || !options.formats.date_format.empty() ||
           options.formats.strict || options.reject_bad_values || options.no_header ||
           !options.encoding.empty() || options.separator != 0;
}

// A pipe has no time, and a program may write other rows. A file of another machine has the time of
// that machine, so a clock that is ahead does not make the file older.
bool may_have_changed(const InputFile& file, const ImportJob& job) {
    const std::optional<Timestamp> created = Timestamp::parse(job.created_at);
    if (!file.changed_at() || !created) return true;
    const Milliseconds lag = std::max(job.clock_lag, Milliseconds(0));
    return *file.changed_at() + lag > *created - kClockDifference;
}

}  // namespace

std::string job_file_name(const std::string& path) {
    constexpr std::size_t kMostCharacters = 255;
    if (path == "-") return "standard input";
    const auto slash = path.rfind('/');
    std::string name(trimmed(slash == std::string::npos ? path : path.substr(slash + 1)));
    const bool fits = !name.empty() && is_utf8(name) && utf8_length(name) <= kMostCharacters &&
                      !has_control(name);
    return fits ? name : "import.csv";
}

void require_resumable(const Options& options, const ImportJob& job, std::uint64_t rows) {
    const std::string name = job_file_name(options.file);
    if (job.file_name != name || job.declared_total != rows) {
        throw UsageError("job " + job.id + " was created for " + printable(job.file_name) +
                         " with " + counted(job.declared_total, "valid row") + "; this is " + name +
                         " with " + grouped(rows) +
                         ".\nResume with the same file and the same options" +
                         cancel_advice_of(options, job, ", or "));
    }
    const bool is_late =
        job.state == ImportState::Committing || job.state == ImportState::Completed;
    if (options.dry_run && is_late) {
        throw UsageError("job " + job.id + " is " + std::string(text_of(job.state)) +
                         ": too late for --dry-run");
    }
    if (rules::can_cancel(job.state)) refuse_surplus(options, job, rows);
}

std::string resend_reason(const Options& options, const ImportJob& job, const InputFile& file,
                          std::uint64_t rows) {
    const std::string so = ", so all rows are sent and validated again";
    if (may_have_changed(file, job))
        return file.name() + " may have changed since job " + job.id + " was created" + so;
    if (has_reading_options(options))
        return "The options may differ from those of the run that created job " + job.id + so;
    if (job.staged >= rows) return "";  // refuse_surplus() follows
    return "Job " + job.id + " has " + grouped(job.staged) + " of the " + counted(rows, "row") +
           " of " + file.name() + so;
}

void refuse_surplus(const Options& options, const ImportJob& job, std::uint64_t rows) {
    if (job.staged <= rows) return;
    throw UsageError("job " + job.id + " holds " + counted(job.staged, "row") + ", and " +
                     options.file + " has " + grouped(rows) +
                     " to import: the file has lost rows, or another program added some" +
                     cancel_advice_of(options, job, ".\nImport the file again after you "));
}

std::string cancel_advice(const Options& options, std::string_view job) {
    return "cancel it:\n  " + cancel_command(options, job);
}

std::string active_job_advice(const Options& options, const ImportJob& active) {
    if (active.state == ImportState::Undoing)
        return "It is being undone; import the file when the undo has ended.";
    const std::string& name = active.file_name;
    const std::string cancel = cancel_advice_of(options, active, "\nor ");
    if (!options.file.empty() && name == job_file_name(options.file))
        return "Continue it:\n  " + resume_command(options, active.id, "") + cancel;
    return "It was created for " + (name.empty() ? "another file" : printable(name)) +
           ". To continue it, import that file with --resume " + active.id + cancel;
}

}  // namespace muster::client
