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

}  // namespace

ExitCode undo_job(const Options& options, ApiClient& api, Console& console, const FollowJob& follow,
                  Summary& summary) {
    const auto see = [&](ImportJob job) { summary.job = std::move(job); };
    see(api.job(options.undo));
    const ImportState state = summary.job->state;
    if (state != ImportState::Undoing && state != ImportState::Undone) {
        see(api.undo(options.undo, UndoCall::DryRun));
        console.say(
            undo_text(*summary.job, "An undo of import " + options.undo + " would do this"));
        if (options.dry_run) return ExitCode::AllIn;
        if (!options.yes && !console.can_ask()) {
            console.error(
                "nothing was undone: --yes is missing, and there is no terminal to ask on");
            return ExitCode::Stopped;
        }
        if (!options.yes && !console.ask("Undo the import?")) {
            console.error("nothing was undone");
            return ExitCode::Stopped;
        }
        see(api.undo(options.undo, UndoCall::Undo));
    }
    if (summary.job->state == ImportState::Undoing) {
        see(follow(*summary.job, summary.job->staged));
    }
    if (summary.job->state != ImportState::Undone) {
        console.error("the undo failed: " + summary.job->failure + "; run the command again");
        return ExitCode::Failed;
    }
    console.say(undo_text(*summary.job, "Import " + options.undo + " is undone"));
    return summary.job->undo && summary.job->undo->kept > 0 ? ExitCode::SomeNotIn : ExitCode::AllIn;
}

}  // namespace muster::client
