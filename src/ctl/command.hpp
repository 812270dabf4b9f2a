// musterctl's commands as rows: words, options, help and what to do. How to add one: a function in
// the file of its noun, a row in commands.cpp; the help, the man page's list and the bash
// completion are printed from the rows.
#pragma once

#include "service/context.hpp"

#include <json/value.h>

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace muster::ctl {

// A mistake of the operator's: one line to stderr, exit status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// What was asked for is not there, or not possible: exit status 1.
struct CommandError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Invocation {
    service::Context& context;
    db::Database& without_database;  // a connection that names no database, for making one
    std::string config_path;
    std::map<std::string, std::string, std::less<>> options;
    std::vector<std::string> arguments;

    // UsageError when it is missing.
    const std::string& required(std::string_view option) const;
    std::string optional(std::string_view option, std::string_view fallback = "") const;
    // UsageError when it is no id.
    OrgId organization() const;
    bool flag(std::string_view option) const { return options.contains(option); }
};

// What a command has to say: printed as a table of lines, or as JSON with --json.
struct Result {
    Json::Value json;
    std::string text;
    int status = 0;
};

struct Command {
    std::string_view words;      // "key issue"
    std::string_view options;    // "--org --name [--expires]": [ ] marks those that may be left out
    std::string_view arguments;  // "KEY…", or ""
    std::string_view help;
    Result (*run)(const Invocation&);
    bool wants_schema = true;  // one that fits this program: it is not run without
};

// An option that takes no value.
bool is_flag(std::string_view option);

std::span<const Command> commands();
std::string usage();
// The words of all commands and their options, for the bash completion: a line each.
std::string completion_words();

// Finds the command, checks its options, runs it. Throws UsageError, CommandError, and what
// services throw.
const Command& find_command(const std::vector<std::string>& words, std::size_t& used);

// admins.cpp
Result add_admin(const Invocation& in);
Result list_admins(const Invocation& in);
Result remove_admin(const Invocation& in);
Result reset_two_factor(const Invocation& in);
// organizations.cpp
Result create_org(const Invocation& in);
Result list_orgs(const Invocation& in);
Result issue_key(const Invocation& in);
Result list_keys(const Invocation& in);
Result revoke_key(const Invocation& in);
// publishable_keys.cpp
Result issue_tracking_key(const Invocation& in);
Result list_tracking_keys(const Invocation& in);
Result revoke_tracking_key(const Invocation& in);
Result issue_content_key(const Invocation& in);
Result list_content_keys(const Invocation& in);
Result revoke_content_key(const Invocation& in);
// attributes.cpp
Result list_attributes(const Invocation& in);
Result enable_attributes(const Invocation& in);
Result disable_attributes(const Invocation& in);
Result add_attribute(const Invocation& in);
// imports.cpp
Result list_imports(const Invocation& in);
Result show_import(const Invocation& in);
Result cancel_import(const Invocation& in);
// webhooks.cpp
Result list_webhooks(const Invocation& in);
Result recover_webhooks(const Invocation& in);
// providers.cpp
Result list_providers(const Invocation& in);
Result check_providers(const Invocation& in);
// users.cpp
Result erase_user(const Invocation& in);
// audit.cpp
Result show_audit_log(const Invocation& in);
// system.cpp
Result init_database(const Invocation& in);
Result migrate_database(const Invocation& in);
Result database_status(const Invocation& in);
Result rotate_secrets(const Invocation& in);
Result check_config(const Invocation& in);
// health.cpp
Result show_health(const Invocation& in);
// The same where the configuration, which everything else needs, cannot be used.
Result show_health_without_configuration(const std::string& reason);

}  // namespace muster::ctl
