// musterctl's commands as rows: words, options, help and function. To add one, write a function in
// the file of its noun, a row in commands.cpp, a row for each new option, and a marker with notes
// in man/musterctl.8.in. Help, man page and bash completion are printed from the rows.
#pragma once

#include "base/command_line.hpp"
#include "service/context.hpp"

#include <json/value.h>

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace muster::ctl {

// The request cannot be fulfilled: exit status 1.
struct CommandError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The value as `check` returns it. A std::invalid_argument of `check` becomes a UsageError with the
// option, the value and the fault: `--name is "a\x0ab": the text has a control character`.
std::string checked_value(std::string_view option, std::string_view value,
                          std::string (*check)(std::string_view));

struct Invocation {
    service::Context& context;
    db::Database& without_database;  // a connection that names no database, for making one
    std::string config_path;
    const CommandLine& line;
    std::vector<std::string> arguments;  // after the words of the command
    // Puts a question with a yes or no answer to the operator; empty without a terminal.
    std::function<bool(const std::string& question)> ask;
    // Asks for a line of text; empty without a terminal.
    std::function<std::string(const std::string& question)> ask_text;

    // Throws UsageError for an option that is not given.
    const std::string& required(std::string_view option) const;
    std::string optional(std::string_view option, std::string_view fallback = "") const;
    // --name and --email, as the services store them. Throw UsageError for an invalid value.
    std::string name() const;
    std::string email() const;
    // The organization of --org, an id or an exact name. Throws UsageError for a name that no
    // organization or more than one has, std::invalid_argument for an unknown id.
    OrgId organization() const;
    // The same for a command that adds something, which would be deleted too. Throws CommandError
    // if the organization is being deleted.
    OrgId lasting_organization() const;
    // As organization(), for the command's only argument.
    OrgId organization_argument() const;
    bool flag(std::string_view option) const { return line.has(option); }
    // Before a change that stops or deletes something; --yes answers the question. Throws
    // UsageError where neither --yes nor a terminal is given, CommandError for a no.
    void confirm(const std::string& question) const;
};

// A command's output: text, or JSON with --json.
struct Result {
    Json::Value json;
    std::string text;
    int status = 0;
};

struct Command {
    std::string_view words;      // "key issue"
    std::string_view options;    // "--org --name [--expires]": an option in [ ] is optional
    std::string_view arguments;  // "KEY…", or ""
    std::string_view help;
    Result (*run)(const Invocation&);
    bool requires_schema = true;  // of this program's version
};

// A command with the arguments that follow its words.
struct Call {
    const Command& command;
    std::vector<std::string> arguments;
};
// Throws UsageError for an unknown command, and for options or arguments that its row does not
// list.
Call find_call(const CommandLine& line);

const Program& program();
// The help of the command that `words` name, of all commands that begin with them, or of musterctl.
// Throws UsageError for an unknown command.
std::string help(std::span<const std::string> words);
// The words of all commands and their options, a line each. The bash completion calls musterctl
// with this option; the help does not show it.
inline constexpr std::string_view kCompletionWords = "--completion-words";
std::string completion_words();

// admins.cpp
Result add_admin(const Invocation& in);
Result invite_admin(const Invocation& in);
Result resend_invitation(const Invocation& in);
Result withdraw_invitation(const Invocation& in);
Result set_admin_role(const Invocation& in);
Result list_admins(const Invocation& in);
Result remove_admin(const Invocation& in);
Result reset_two_factor(const Invocation& in);
// organizations.cpp
Result create_org(const Invocation& in);
Result list_orgs(const Invocation& in);
Result rename_org(const Invocation& in);
Result disable_org(const Invocation& in);
Result enable_org(const Invocation& in);
Result delete_org(const Invocation& in);
Result show_usage(const Invocation& in);
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
// mail.cpp
Result test_mail(const Invocation& in);
// health.cpp
Result show_health(const Invocation& in);
// The same if the configuration, which every other check needs, is not valid.
Result show_health_without_configuration(const std::string& reason);

}  // namespace muster::ctl
