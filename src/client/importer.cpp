#include "client/importer.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/column_guess.hpp"
#include "client/console.hpp"
#include "client/error_advice.hpp"
#include "client/error_report.hpp"
#include "client/file_check.hpp"
#include "client/file_plan.hpp"
#include "client/input_file.hpp"
#include "client/resume.hpp"
#include "client/row_source.hpp"
#include "client/server_report.hpp"
#include "client/stager.hpp"
#include "client/undo.hpp"
#include "rules/attributes.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace muster::client {
namespace {

using rules::ImportState;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostRows = 250'000;  // docs/api/limits.md "Limits"
constexpr Milliseconds kLongestPollPause{5000};
// Without progress of a job: when to say that it waits, and when to stop waiting.
constexpr auto kSayItWaits = std::chrono::seconds(30);
constexpr auto kStopWaiting = std::chrono::minutes(30);

class Importer {
  public:
    Importer(const Options& options, const Secret& key, const Terminal& terminal)
        : options_(options),
          key_(key),
          terminal_(terminal),
          console_(options.json ? terminal.err : terminal.out, terminal.err,
                   {options.quiet, terminal.err_is_terminal, terminal.ask}),
          api_(connect()),
          report_(options.errors) {
        summary_.file = options.file;
    }

    ExitCode run();

  private:
    std::unique_ptr<ApiClient> connect();
    ExitCode run_job();
    void read_columns();
    DateOrder ask_order(const FormatGuess::Ambiguity& ambiguity);
    void check_rows();
    ImportJob open_job();
    ImportJob adopt_job();
    ExitCode bring_to_end(ImportJob job);
    void send_rows(const std::string& job);
    ImportJob stage(const ImportJob& job);
    bool reopen_earlier_job(const ImportJob& job);
    void check_staged_rows(const ImportJob& job);
    ImportJob follow(ImportJob job, const std::string& label, std::uint64_t total);
    std::optional<ExitCode> decide(const ImportJob& job);
    ExitCode release_slot(const ImportJob& job, ExitCode exit_code);
    ExitCode conclude(const ImportJob& job);
    void fetch_report(const ImportJob& job);
    void see(const ImportJob& job) { summary_.job = job; }
    void explain(const ApiError& error);
    void say_how_to_resume(std::string_view more);
    ExitCode cancel_job();
    ExitCode list_jobs();
    ExitCode end_unanswered(const ImportJob& job);
    ExitCode fail(ExitCode exit_code, const std::string& text) {
        return fail_run(console_, summary_, exit_code, text);
    }
    ExitCode end_of(const std::exception_ptr& error);

    Options options_;  // with the answer to the question about dates
    const Secret& key_;
    const Terminal& terminal_;
    Console console_;
    std::unique_ptr<ApiClient> api_;
    ErrorReport report_;
    Summary summary_;
    rules::AttributeRegistry registry_;
    std::unique_ptr<InputFile> file_;
    std::optional<FilePlan> plan_;
    CheckedFile checked_;
    RejectedRows rejected_;
    bool has_server_rows_ = false;  // in the report
    bool has_staged_ = false;       // and requested the dry run
    bool can_resume_ = true;        // the job holds no row that the file does not have
    std::uint64_t sendable_ = 0;
};

std::unique_ptr<ApiClient> Importer::connect() {
    ApiSettings settings;
    settings.base_url = options_.url;
    settings.ca_file = options_.ca_file;
    settings.key = key_;
    settings.first_pause = terminal_.first_pause;
    settings.longest_pause = terminal_.longest_pause;
    return std::make_unique<ApiClient>(
        std::move(settings), [this](const std::string& text) { console_.note(text); },
        terminal_.stop);
}

void Importer::read_columns() {
    file_ = std::make_unique<InputFile>(options_.file, options_.encoding, terminal_.stop);
    static_cast<void>(RowSource(*file_, options_.separator, Header::Guess));  // a file with rows
    registry_ = rules::AttributeRegistry(api_->attributes());
    plan_.emplace(plan_file(*file_, options_, registry_, terminal_.today));
    if (plan_->has_header) return;
    console_.say(file_->name() +
                 " has no line of column names, so its first line is a row. Its columns are "
                 "\"column 1\", \"column 2\" and so on.");
}

DateOrder Importer::ask_order(const FormatGuess::Ambiguity& ambiguity) {
    const DateCell date = read_date(ambiguity.sample);
    const std::string contradiction =
        ambiguity.contradiction.empty() ? "" : ", but " + ambiguity.contradiction;
    const std::string what = printable(ambiguity.column) + " has dates such as \"" +
                             ambiguity.sample + "\"" + contradiction;
    for (const DateOrder order : {DateOrder::DayFirst, DateOrder::MonthFirst}) {
        const DatePattern pattern{order, date.separator};
        const std::string question = what + ". Is that " + iso_date(date, order).value_or("") +
                                     ", as " + date_pattern_text(pattern) + "?";
        if (!console_.can_ask() || !console_.ask(question)) continue;
        for (const std::string& column : ambiguity.columns)
            options_.formats.columns.push_back({column, date_pattern_text(pattern)});
        return order;
    }
    if (terminal_.stop) throw Stopped();
    throw UsageError(what +
                     (contradiction.empty()
                          ? ", and no value shows whether the day or the month is first"
                          : "") +
                     "; add --date-format DD/MM/YYYY or --date-format MM/DD/YYYY");
}

// Reads the whole file before anything is created.
void Importer::check_rows() {
    const auto decide_order = [this](const auto& ambiguity) { return ask_order(ambiguity); };
    try {
        checked_ = check_file(*plan_, report_, decide_order, terminal_.stop);
    } catch (...) {
        report_.discard();
        throw;
    }
    summary_.rows = checked_.rows;
    summary_.refused_here = checked_.refused;
    summary_.values_left_out = checked_.values_left_out;
    summary_.rows_left_out = checked_.rows_left_out;
    sendable_ = summary_.rows - summary_.refused_here;
    if (summary_.rows == 0) throw UsageError(file_->name() + " has no rows");
    console_.say(mapping_text({file_text(*plan_), plan_->routes, checked_.formats, registry_}));
    if (sendable_ > kMostRows) {
        throw UsageError(file_->name() + " has " + grouped(sendable_) + " rows; a job takes " +
                         grouped(kMostRows) + ", so split the file");
    }
    const std::string faults = faults_text(checked_, options_.errors);
    if (!faults.empty()) console_.say(faults);
}

ImportJob Importer::adopt_job() {
    ImportJob job = api_->job(options_.resume);
    require_resumable(options_, job, sendable_);
    console_.say("Resuming job " + job.id + " (" + std::string(text_of(job.state)) + ")");
    return job;
}

ImportJob Importer::open_job() {
    if (!options_.resume.empty()) return adopt_job();
    NewImport import;
    import.file_name = job_file_name(options_.file);
    import.declared_total = sendable_;
    import.mapping = to_mapping(plan_->routes);
    ImportJob job = api_->create_import(import);
    console_.say("Job " + job.id);
    return job;
}

void Importer::send_rows(const std::string& job) {
    RowSource source(*file_, plan_->separator, plan_->header);
    Progress progress(console_, "Staging", sendable_);
    Stager stager({.source = source,
                   .converter = *checked_.converter,
                   .rejected = rejected_,
                   .chunk_rows = options_.chunk,
                   .connect = [this] { return connect(); },
                   .stop = terminal_.stop},
                  progress);
    stager.run(job, sendable_);
    if (rejected_.empty()) return;
    console_.say("The server rejected " + counted(rejected_.size(), "row") + " while staging");
}

// Sends all rows, also to a job that holds as many: the file may have changed since.
ImportJob Importer::stage(const ImportJob& job) {
    if (std::exchange(has_staged_, true)) {
        throw std::runtime_error("job " + job.id +
                                 " is in staging again: another program reopened it after its dry "
                                 "run");
    }
    try {
        send_rows(job.id);
    } catch (const ApiError& error) {
        if (error.code != "IMPORT_JOB_INVALID_STATE") throw;
        ImportJob current = api_->job(job.id);
        if (current.state == job.state) throw;
        return current;
    }
    if (terminal_.stop) throw Stopped();
    return api_->validate(job);
}

// True if an earlier run staged the job and the file may hold other rows. The job is then in
// staging again.
bool Importer::reopen_earlier_job(const ImportJob& job) {
    if (has_staged_) return false;
    const std::string reason = resend_reason(options_, job, *file_, sendable_);
    if (reason.empty()) return false;
    console_.say(reason);
    see(api_->reopen(job));
    return true;
}

// Only the rows of the file may be imported.
void Importer::check_staged_rows(const ImportJob& job) {
    const std::uint64_t sent = sendable_ - rejected_.size();
    can_resume_ = job.staged <= sent;
    refuse_surplus(options_, job, sent);
    if (job.staged == sent) return;
    throw std::runtime_error("job " + job.id + " has " + grouped(job.staged) + " of " +
                             counted(sent, "row") +
                             ": another program started its dry run too early");
}

// Polls a job until its state changes.
ImportJob Importer::follow(ImportJob job, const std::string& label, std::uint64_t total) {
    const ImportState state = job.state;
    Progress progress(console_, label, total);
    Milliseconds pause = std::min(terminal_.first_pause, kLongestPollPause);
    auto last_news = Clock::now();
    bool has_said = false;
    while (job.state == state) {
        wait(job.retry_after > 0 ? Milliseconds(std::int64_t{1000} * job.retry_after) : pause,
             terminal_.stop);
        pause = std::min(pause * 2, kLongestPollPause);
        ImportJob next = api_->job(job.id);
        if (next.processed != job.processed || next.has_begun != job.has_begun)
            last_news = Clock::now();
        job = std::move(next);
        see(job);
        if (job.state == state) progress.update(job.processed);
        const auto quiet_for = Clock::now() - last_news;
        if (quiet_for > kStopWaiting)
            throw std::runtime_error("the job has made no progress for 30 minutes");
        if (quiet_for > kSayItWaits && !std::exchange(has_said, true)) {
            console_.note(job.has_begun ? "The job makes no progress at the moment; still waiting"
                                        : "The service has not started the job yet; still waiting");
        }
    }
    const bool is_done = job.state == ImportState::Validated ||
                         job.state == ImportState::Completed || job.state == ImportState::Undone;
    progress.finish(is_done ? total : job.processed);
    return job;
}

// The server's rows are joined once after the dry run, and again only if rows failed since.
void Importer::fetch_report(const ImportJob& job) {
    const bool has_rows = job.invalid + job.failed + rejected_.size() > 0;
    if (has_rows && (!has_server_rows_ || job.failed > 0)) {
        ServerReport server;
        server.download(*api_, job.id);
        const FaultCounts faults = server.join(*plan_, *checked_.converter, rejected_, report_);
        has_server_rows_ = true;
        const std::uint64_t rows = job.invalid + job.failed + rejected_.size();
        console_.say("The server rejected " + counted(rows, "row") +
                     (rows == 1 ? ", which is" : ", which are") + " written to " + options_.errors +
                     ":" + faults.text());
    }
    if (report_.has_rows()) summary_.errors_file = report_.path();
    const std::uint64_t earlier = has_staged_ ? 0 : sendable_ - std::min(sendable_, job.staged);
    if (earlier > 0)
        console_.say("The report does not have " + counted(earlier, "row") +
                     " that the server rejected in an earlier run");
}

ExitCode Importer::release_slot(const ImportJob& job, ExitCode exit_code) {
    see(api_->cancel(job.id));
    console_.say(
        "Nothing was imported. The job is canceled, so that the organization can start another "
        "one.");
    return exit_code;
}

// The import is not wanted now. The organization can have one job at a time, so the job is canceled
// unless the person keeps it.
ExitCode Importer::end_unanswered(const ImportJob& job) {
    const bool is_kept = console_.ask("Keep the job, to import it later?");
    if (terminal_.stop) throw Stopped();
    if (!is_kept) return release_slot(job, ExitCode::Stopped);
    const ExitCode exit_code = fail(ExitCode::Stopped, "nothing was imported");
    say_how_to_resume(" --commit");
    return exit_code;
}

// After the dry run. nullopt: the job has moved on.
std::optional<ExitCode> Importer::decide(const ImportJob& job) {
    if (reopen_earlier_job(job)) return std::nullopt;
    check_staged_rows(job);
    fetch_report(job);
    console_.say(dry_run_text(summary_));
    if (options_.dry_run) return release_slot(job, exit_code_of(summary_));
    if (job.valid == 0) return release_slot(job, ExitCode::SomeNotIn);
    if (!options_.commit) {
        if (!console_.can_ask()) {
            const ExitCode exit_code = fail(
                ExitCode::Stopped,
                "nothing was imported: --commit is missing, and there is no terminal to ask on");
            say_how_to_resume(" --commit");
            return exit_code;
        }
        const bool is_agreed = console_.ask("Import " + grouped(job.valid) +
                                            (job.valid == 1 ? " member?" : " members?"));
        if (terminal_.stop) throw Stopped();
        if (!is_agreed) return end_unanswered(job);
    }
    see(api_->commit(job));
    return std::nullopt;
}

ExitCode Importer::conclude(const ImportJob& job) {
    ExitCode exit_code = exit_code_of(summary_);
    try {
        fetch_report(job);
    } catch (const UsageError& error) {  // a full disk; the members are imported
        exit_code = fail(ExitCode::SomeNotIn, error.what());
        summary_.errors_file.clear();
    }
    console_.say(final_text(summary_));
    return exit_code;
}

ExitCode Importer::bring_to_end(ImportJob job) {
    for (;;) {
        see(job);
        if (terminal_.stop) throw Stopped();
        switch (job.state) {
            case ImportState::Staging:
                job = stage(job);
                break;
            case ImportState::Validating:
                job = follow(std::move(job), "Checking", sendable_);
                break;
            case ImportState::Validated:
                if (const auto exit_code = decide(job)) return *exit_code;
                job = *summary_.job;
                break;
            case ImportState::Committing: {
                const std::uint64_t total = job.valid;
                job = follow(std::move(job), "Importing", total);
                break;
            }
            case ImportState::Completed:
                return conclude(job);
            case ImportState::Failed:
                fetch_report(job);
                return fail(ExitCode::Failed,
                            "job " + job.id + " failed: " + job.failure +
                                "\nImported rows remain imported. The file can be imported again.");
            case ImportState::Canceled:
                return fail(ExitCode::Stopped, "job " + job.id + " was canceled");
            case ImportState::Undoing:
            case ImportState::Undone:
                return fail(ExitCode::Stopped, "job " + job.id + " was completed and then undone");
        }
    }
}

ExitCode Importer::cancel_job() {
    see(api_->cancel(options_.cancel));
    console_.say("Job " + options_.cancel + " is canceled. Nothing of it was imported.");
    return ExitCode::AllIn;
}

ExitCode Importer::list_jobs() {
    summary_.jobs = api_->jobs();
    if (summary_.jobs->empty()) console_.say("The organization has no import jobs.");
    for (const ImportJob& job : *summary_.jobs) console_.say(job_line(job));
    return ExitCode::AllIn;
}

ExitCode Importer::run_job() {
    if (options_.list) return list_jobs();
    if (!options_.cancel.empty()) return cancel_job();
    if (!options_.undo.empty()) {
        const auto follow_undo = [this](ImportJob job, std::uint64_t total) {
            return follow(std::move(job), "Undoing", total);
        };
        return undo_job(options_, *api_, console_, follow_undo, summary_);
    }
    read_columns();
    check_rows();
    if (sendable_ == 0 && options_.resume.empty()) {
        summary_.errors_file = report_.path();
        return fail(ExitCode::SomeNotIn,
                    "all rows are rejected; the reasons are in " + report_.path());
    }
    return bring_to_end(open_job());
}

void Importer::say_how_to_resume(std::string_view more) {
    const std::string& job = summary_.job->id;
    std::string text = "to continue:\n  " + resume_command(options_, job, more);
    if (rules::can_cancel(summary_.job->state)) text += "\nor " + cancel_advice(options_, job);
    console_.error(text);
}

void Importer::explain(const ApiError& error) {
    console_.error(error.text());
    summary_.error["status"] = error.status;
    summary_.error["code"] = error.code;
    summary_.error["message"] = error.what();
    summary_.error["details"] = error.details;
    summary_.error["request_id"] = error.request_id;
    const std::string advice = error_advice(options_, error);
    if (!advice.empty()) console_.error(advice);
    if (error.code != "IMPORT_JOB_ACTIVE_EXISTS" || !error.details.isObject()) return;
    ImportJob active;
    active.id = error.details["job_id"].asString();
    try {
        active = api_->job(active.id);
    } catch (const std::exception&) {
        // This error must not hide the one that is being explained.
    }
    console_.error("the organization has an active import job, and can have one at a time: " +
                   active.id + "\n" + active_job_advice(options_, active));
}

// Reports an exception, and how to continue an open job or to wait for an undo.
ExitCode Importer::end_of(const std::exception_ptr& error) {
    const bool is_undoing = summary_.job && summary_.job->state == ImportState::Undoing;
    const bool has_file = !options_.file.empty();
    const bool is_open = has_file && !is_undoing && can_resume_ && summary_.job &&
                         rules::is_active(summary_.job->state);
    ExitCode exit_code = ExitCode::Failed;
    try {
        std::rethrow_exception(error);
    } catch (const Stopped&) {
        exit_code = fail(ExitCode::Stopped, stopped_text(options_, summary_.job));
    } catch (const UsageError& usage) {
        exit_code = fail(ExitCode::Usage, usage.what());
    } catch (const ApiError& refusal) {
        explain(refusal);
    } catch (const net::TransportError& failure) {
        fail(ExitCode::Failed, unreachable_text(options_, failure.what()));
    } catch (const std::exception& other) {
        fail(ExitCode::Failed, other.what());
    }
    if (is_open)
        say_how_to_resume(options_.commit ? " --commit" : options_.dry_run ? " --dry-run" : "");
    if (is_undoing)
        console_.error("to wait for its end:\n  " + undo_command(options_, summary_.job->id));
    return exit_code;
}

ExitCode Importer::run() {
    ExitCode exit_code = ExitCode::Failed;
    try {
        exit_code = run_job();
    } catch (...) {
        exit_code = end_of(std::current_exception());
    }
    if (report_.has_rows()) summary_.errors_file = report_.path();
    const bool is_complete = !options_.file.empty() &&
                             (exit_code == ExitCode::AllIn || exit_code == ExitCode::SomeNotIn);
    report_.remove_empty(exit_code == ExitCode::AllIn && !options_.errors.empty());
    const std::string shortfall = shortfall_text(summary_, Shortfall::NotImported);
    if (is_complete && options_.quiet && !shortfall.empty()) console_.error(shortfall);
    if (options_.json) terminal_.out << summary_json(summary_, exit_code) << std::endl;
    return exit_code;
}

}  // namespace

ExitCode run_import(const Options& options, const Secret& key, const Terminal& terminal) {
    return Importer(options, key, terminal).run();
}

}  // namespace muster::client
