#include "client/error_advice.hpp"

#include <string_view>

namespace muster::client {
namespace {

// JOB of "/v1/imports/JOB/cancel"; "" for a path without a job.
std::string job_of_path(std::string_view path) {
    constexpr std::string_view kJobs = "/v1/imports/";
    if (!path.starts_with(kJobs)) return "";
    path.remove_prefix(kJobs.size());
    return std::string(path.substr(0, path.find('/')));
}

std::string name_of_key(const Options& options) {
    return "the key of " + (options.key_file.empty() ? "MUSTER_API_KEY" : options.key_file);
}

// docs/api/errors.md "Reasons"
std::string key_advice(const Options& options, const std::string& reason) {
    const std::string key = name_of_key(options);
    if (reason == "MISSING") {
        return "the service did not receive " + key +
               "; a proxy may have removed the header Authorization";
    }
    if (reason == "SESSION_ENDED") {
        return key +
               " has the form of a session's token, and no such session is open; use the "
               "organization's key (org_...)";
    }
    return "the service does not accept " + key +
           ": it is unknown, revoked or expired, or the organization is disabled; ask for another "
           "one";
}

// Whether another server seems to have answered, or nginx on a port for TLS that got plain HTTP.
bool is_from_elsewhere(const ApiError& error) {
    // A proxy on the way may have sent these.
    constexpr int kTooLarge = 413;
    constexpr int kTooMany = 429;
    const bool is_refusal = error.status >= 400 && error.status <= 499 &&
                            error.status != kTooLarge && error.status != kTooMany;
    const bool is_unread = error.code == "BAD_REQUEST" && error.status == 400;
    return (is_refusal && error.code.empty()) || (is_unread && error.detail("reason").empty()) ||
           (error.code == "NOT_FOUND" && job_of_path(error.path).empty());
}

}  // namespace

std::string unreachable_text(const Options& options, const std::string& reason) {
    std::string text = options.url + " cannot be reached: " + reason;
    const bool is_trust = reason.find("certificate") != std::string::npos ||
                          reason.find("SSL peer") != std::string::npos;
    if (is_trust && options.ca_file.empty())
        return text +
               "; --ca-file PEM names the authority of a service that signs its own certificates";
    if (is_trust) return text + "; check --ca-file " + options.ca_file;
    if (reason.find("wrong version number") != std::string::npos)
        text += "; the port does not accept TLS, so check " + options.url_source;
    return text;
}

std::string error_advice(const Options& options, const ApiError& error) {
    if (error.code == "UNAUTHORIZED") return key_advice(options, error.detail("reason"));
    if (error.code == "FORBIDDEN") {
        return name_of_key(options) +
               " may not do this: a key with the role viewer only reads; use a key with the role "
               "admin";
    }
    if (const std::string frees_at = error.detail("frees_at"); error.code == "QUOTA_EXCEEDED")
        return "wait until " + (frees_at.empty() ? "the next day (UTC)" : frees_at) +
               ", then continue";
    if (is_from_elsewhere(error)) {
        const bool is_plain = options.url.starts_with("http://");
        return options.url + " does not answer as a Muster service; check " + options.url_source +
               (is_plain ? " (a port for TLS needs https://)" : "");
    }
    if (error.code != "NOT_FOUND") return "";
    return "the organization has no import job " + job_of_path(error.path) +
           "; see muster-import --list";
}

std::string stopped_text(const Options& options, const std::optional<ImportJob>& job) {
    if (job && job->state == rules::ImportState::Committing)
        return "stopped waiting; the service continues the import";
    if (job && job->state == rules::ImportState::Completed)
        return "stopped; the import is complete, and its error report may not be";
    if (job && job->state == rules::ImportState::Undoing)
        return "stopped waiting; the service continues the undo";
    if (!options.undo.empty()) return "stopped; nothing was undone";
    return options.file.empty() ? "stopped" : "stopped; nothing was imported";
}

}  // namespace muster::client
