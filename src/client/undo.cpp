#include "client/undo.hpp"

#include <string>
#include <string_view>

namespace muster::client {
namespace {

using rules::ImportState;

std::string undo_line(std::string_view what, std::uint64_t number) {
    const std::string digits = grouped(number);
    std::string line = "\n  " + std::string(what);
    line.append(line.size() + digits.size() < 45 ? 45 - line.size() - digits.size() : 1, ' ');
    return line + digits;
}

std::string undo_text(const ImportJob& job, const std::string& title) {
    const ImportJob::Undo counts = job.undo.value_or(ImportJob::Undo{});
    std::string text = title;
    if (counts.is_estimate) text += " (estimated from a part of the rows)";
    text += ":" + undo_line("created members removed", counts.removed) +
            undo_line("attached members removed", counts.detached) +
            undo_line("completed members emptied", counts.emptied) +
            undo_line("rows changed since, kept", counts.kept);
    if (counts.unaffected > 0) text += undo_line("rows with nothing to undo", counts.unaffected);
    return text;
}

// How to see the rows that were kept; "" without them.
std::string kept_text(const Options& options, const ImportJob& job) {
    const std::uint64_t kept = job.undo ? job.undo->kept : 0;
    if (kept == 0) return "";
    return counted(kept, "row") +
           (kept == 1 ? " was changed since and is" : " were changed since and are") +
           " kept; GET " + options.url + "/v1/imports/" + options.undo +
           "/rows?state=kept lists them, and .../error-report has them as CSV";
}

// "Undo the import, and remove 3 members?" The counts are in the question, because --quiet does not
// show them otherwise.
std::string undo_question(const ImportJob& job) {
    const ImportJob::Undo counts = job.undo.value_or(ImportJob::Undo{});
    const std::string about = counts.is_estimate ? "about " : "";
    const std::uint64_t removed = counts.removed + counts.detached;
    std::string text = "Undo the import";
    if (removed > 0) text += ", and remove " + about + counted(removed, "member");
    if (counts.emptied > 0)
        text += ", and empty values of " + about + counted(counts.emptied, "member");
    return text + "?";
}

}  // namespace

ExitCode undo_job(const Options& options, ApiClient& api, Console& console, const FollowJob& follow,
                  Summary& summary) {
    const auto see = [&](ImportJob job) { summary.job = std::move(job); };
    const auto fail = [&](ExitCode exit_code, const std::string& text) {
        return fail_run(console, summary, exit_code, text);
    };
    see(api.job(options.undo));
    const ImportState state = summary.job->state;
    if (state != ImportState::Undoing && state != ImportState::Undone) {
        see(api.undo(options.undo, UndoCall::DryRun));
        console.say(
            undo_text(*summary.job, "An undo of import " + options.undo + " would do this"));
        if (options.dry_run) return ExitCode::AllIn;
        if (!options.yes && !console.can_ask())
            return fail(ExitCode::Stopped,
                        "nothing was undone: --yes is missing, and there is no terminal to ask on");
        if (!options.yes && !console.ask(undo_question(*summary.job)))
            return fail(ExitCode::Stopped, "nothing was undone");
        see(api.undo(options.undo, UndoCall::Undo));
    }
    if (summary.job->state == ImportState::Undoing) {
        see(follow(*summary.job, summary.job->staged));
    }
    // The service's message names the next step.
    if (summary.job->state != ImportState::Undone)
        return fail(ExitCode::Failed, "the undo failed: " + summary.job->failure);
    console.say(undo_text(*summary.job, "Import " + options.undo + " is undone"));
    const std::string kept = kept_text(options, *summary.job);
    if (kept.empty()) return ExitCode::AllIn;
    if (options.quiet) console.error(kept);
    console.say(kept);
    return ExitCode::SomeNotIn;
}

}  // namespace muster::client
