#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "ctl/command.hpp"

#include <algorithm>
#include <array>

namespace muster::ctl {
namespace {

constexpr std::array kOptions = {
    CommandOption{"--config", "FILE",
                  "configuration (default $MUSTER_CONFIG or /etc/muster/muster.conf)"},
    CommandOption{"--json", "", "print the result, or the error, as JSON"},
};

constexpr std::array kCommandOptions = {
    CommandOption{"--action", "NAME", "only entries of this action, such as api_key.issued"},
    CommandOption{"--burst", "N", "requests that may exceed the rate at once"},
    CommandOption{"--choices", "A,B,C", "the choices of a choice attribute"},
    CommandOption{kCompletionWords, "", ""},
    CommandOption{"--confirm", "NAME", "the organization's name, instead of typing it"},
    CommandOption{"--client-host", "HOST", "the host or pattern from which the programs connect"},
    CommandOption{"--email", "ADDRESS", "the person's email address"},
    CommandOption{"--endpoint", "ID", "the webhook endpoint"},
    CommandOption{"--expires", "TIME", "when the key expires, such as 2027-01-31T00:00:00Z"},
    CommandOption{"--id", "ID", "the id that the list shows"},
    CommandOption{"--key", "KEY", "the attribute's key"},
    CommandOption{"--label", "TEXT", "the attribute's label (default: its key)"},
    CommandOption{"--limit", "N", "the number of entries, 1 to 1000 (default 50)"},
    CommandOption{"--name", "NAME", "the name to show"},
    CommandOption{"--no-starter-attributes", "", "leave the starter attributes disabled"},
    CommandOption{"--org", "ORG", "the organization's id or exact name (musterctl org list)"},
    CommandOption{"--origins", "A,B,C", "origins of web pages, such as https://example.org"},
    CommandOption{"--print-sql", "", "print the statements instead of running them"},
    CommandOption{"--provider", "ID", "only this provider"},
    CommandOption{"--rate", "N", "requests a second"},
    CommandOption{"--role", "ROLE", "the role of the admin or key"},
    CommandOption{"--root-socket", "PATH", "the database's Unix socket, for its administrator"},
    CommandOption{"--root-user", "NAME", "the database's administrator (default root)"},
    CommandOption{"--since", "TIME", "the earliest delivery, such as 2026-01-31T00:00:00Z"},
    CommandOption{"--type", "TYPE", "text, number, date, boolean, single_choice or multi_choice"},
    CommandOption{"--yes", "", "carry out the command without asking"},
};

constexpr std::array kCommands = {
    Command{"db init", "[--root-socket] [--root-user] [--client-host] [--print-sql]", "",
            "create the database, its user and the schema, or print the statements", init_database,
            false},
    Command{"db migrate", "[--root-socket] [--root-user]", "",
            "upgrade the schema to this program's version", migrate_database, false},
    Command{"db status", "", "", "show the schema's version", database_status, false},
    Command{"org create", "--name [--no-starter-attributes]", "", "create an organization",
            create_org},
    Command{"org list", "", "", "list the organizations", list_orgs},
    Command{"org rename", "--name", "ORG", "change the name of an organization", rename_org},
    Command{"org disable", "[--yes]", "ORG",
            "stop everything of an organization, from the next request on", disable_org},
    Command{"org enable", "", "ORG", "let a disabled organization work again", enable_org},
    Command{"org delete", "[--confirm]", "ORG",
            "show what an organization has; with its name, delete all of it", delete_org},
    Command{"org usage", "", "ORG", "show what an organization uses of its limits", show_usage},
    Command{"admin add", "--org --email [--role]", "",
            "give an admin a seat (role owner, admin or viewer; default admin)", add_admin},
    Command{"admin invite", "--org --email [--role]", "",
            "invite a person to a seat by mail (role owner, admin or viewer; default admin)",
            invite_admin},
    Command{"admin resend", "--org --email", "",
            "send an invitation again; it is then valid for 7 days", resend_invitation},
    Command{"admin withdraw", "--org --email", "", "delete an invitation", withdraw_invitation},
    Command{"admin set-role", "--org --email --role", "",
            "change an admin's role (owner, admin or viewer), from the next request on",
            set_admin_role},
    Command{"admin list", "--org", "", "list the admins and invitations of an organization",
            list_admins},
    Command{"admin remove", "--org --email [--yes]", "",
            "remove an admin's seat, from the next request on", remove_admin},
    Command{"admin reset-2fa", "--email [--yes]", "",
            "remove an admin's second factor and sessions", reset_two_factor},
    Command{"key issue", "--org --name [--role] [--expires] [--rate] [--burst]", "",
            "issue an API key (role admin, the default, or viewer to read only) and show it, once",
            issue_key},
    Command{"key list", "--org", "", "list an organization's API keys", list_keys},
    Command{"key revoke", "--org --id [--yes]", "", "revoke an API key, from the next request on",
            revoke_key},
    Command{"tracking-key issue", "--org --name --origins [--expires] [--rate] [--burst]", "",
            "issue a public key with which web pages of these origins send events and show ads",
            issue_tracking_key},
    Command{"tracking-key list", "--org", "", "list an organization's tracking keys",
            list_tracking_keys},
    Command{"tracking-key revoke", "--org --id [--yes]", "",
            "revoke a tracking key, from the next request on", revoke_tracking_key},
    Command{"content-key issue", "--org --name --origins [--expires]", "",
            "issue a public key with which web pages of these origins read articles",
            issue_content_key},
    Command{"content-key list", "--org", "", "list an organization's content keys",
            list_content_keys},
    Command{"content-key revoke", "--org --id [--yes]", "",
            "revoke a content key, from the next request on", revoke_content_key},
    Command{"attribute list", "--org", "", "list an organization's attributes", list_attributes},
    Command{"attribute enable", "--org", "KEY...", "enable attributes", enable_attributes},
    Command{"attribute disable", "--org", "KEY...", "disable attributes and keep their values",
            disable_attributes},
    Command{"attribute add", "--org --key --type [--label] [--choices]", "",
            "add an attribute and enable it", add_attribute},
    Command{"import list", "--org", "", "list an organization's import jobs, newest first",
            list_imports},
    Command{"import show", "--org --id", "", "show an import job", show_import},
    Command{"import cancel", "--org --id [--yes]", "",
            "cancel an import job that has not begun to commit", cancel_import},
    Command{"webhook list", "--org", "",
            "list an organization's webhook endpoints, with pending and failed deliveries",
            list_webhooks},
    Command{"webhook recover", "--org --endpoint --since", "",
            "queue an endpoint's failed and canceled deliveries again", recover_webhooks},
    Command{"provider list", "", "", "list the providers of external data and what each one lacks",
            list_providers, false},
    Command{"provider check", "[--provider]", "",
            "ask the ready providers whether they accept this installation", check_providers,
            false},
    Command{"secret rotate", "", "", "re-encrypt values that still use security.previous_key_file",
            rotate_secrets},
    Command{"user erase", "--email [--yes]", "",
            "show a person's data in all organizations; with --yes, erase it", erase_user},
    Command{"audit", "[--org] [--limit] [--action]", "", "show the audit log, newest entry first",
            show_audit_log},
    Command{"mail test", "", "ADDRESS", "send a message and show the mail server's answer",
            test_mail, false},
    Command{"config check", "", "", "check the configuration file", check_config, false},
    Command{"health", "", "", "check everything, and say what to do about each problem",
            show_health, false},
};

struct OptionUse {
    std::string_view name;
    bool is_required;
};

std::vector<OptionUse> options_of(const Command& command) {
    std::vector<OptionUse> uses;
    for (std::string_view word : split(command.options, ' ')) {
        if (word.empty()) continue;
        const bool is_required = word.front() != '[';
        if (!is_required) word = word.substr(1, word.size() - 2);
        uses.push_back({word, is_required});
    }
    return uses;
}

std::string signature(const Command& command) {
    std::string text(command.words);
    for (const std::string_view part : {command.options, command.arguments}) {
        if (!part.empty()) text.append(" ").append(part);
    }
    return text;
}

std::string command_list() {
    std::string text = "Commands:\n";
    for (const Command& command : kCommands) {
        constexpr std::size_t kColumn = 46;
        std::string line = "  " + signature(command);
        line += line.size() < kColumn ? std::string(kColumn - line.size(), ' ')
                                      : "\n" + std::string(kColumn, ' ');
        text += line + std::string(command.help) + "\n";
    }
    return text;
}

std::string command_help(const Command& command) {
    std::string text =
        "Usage: musterctl " + signature(command) + "\n" + std::string(command.help) + "\n";
    const std::vector<OptionUse> uses = options_of(command);
    if (!uses.empty()) text += "\n";
    for (const OptionUse& use : uses) {
        text += help_row(*std::ranges::find(kCommandOptions, use.name, &CommandOption::name));
    }
    return text;
}

bool begins_with(const auto& words, const auto& prefix) {
    return words.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), words.begin());
}

const Command* find_command(std::span<const std::string> words) {
    for (const Command& command : kCommands) {
        if (begins_with(words, split(command.words, ' '))) return &command;
    }
    return nullptr;
}

// Lists the commands of a known noun, else all nouns.
UsageError unknown_command(std::span<const std::string> words) {
    if (words.empty()) return UsageError("COMMAND is missing; `musterctl help` lists all commands");
    std::vector<std::string_view> verbs;
    std::vector<std::string_view> nouns;
    for (const Command& command : kCommands) {
        const std::string_view noun = split(command.words, ' ').front();
        if (noun == words.front()) verbs.push_back(command.words);
        if (nouns.empty() || nouns.back() != noun) nouns.push_back(noun);
    }
    if (verbs.empty()) return unknown_word("command", words.front(), nouns);
    if (words.size() == 1) {
        return {"`" + words.front() + "` is a group of commands; use " + listed(verbs),
                words.front()};
    }
    return unknown_word("command", words.front() + " " + words[1], verbs);
}

void check_options(const Command& command, const CommandLine& line) {
    const std::vector<OptionUse> uses = options_of(command);
    for (const auto& [name, values] : line.options) {
        if (std::ranges::find(kOptions, name, &CommandOption::name) != kOptions.end()) continue;
        if (std::ranges::find(uses, name, &OptionUse::name) != uses.end()) continue;
        throw UsageError("`" + std::string(command.words) + "` has no option " + name,
                         command.words);
    }
    for (const OptionUse& use : uses) {
        if (use.is_required && !line.has(use.name)) {
            throw UsageError(std::string(use.name) + " is missing", command.words);
        }
    }
}

}  // namespace

const Program& program() {
    static const Program kProgram{
        .name = "musterctl",
        .synopsis = "[--config FILE] [--json] COMMAND [OPTION]... [ARGUMENT]...",
        .description =
            "Manages an installation of Muster. `musterctl COMMAND --help` shows the options of a "
            "command.",
        .options = kOptions,
        .command_options = kCommandOptions,
        .details = command_list(),
        .help = help,
        .has_json_errors = true,
    };
    return kProgram;
}

std::string help(std::span<const std::string> words) {
    if (words.empty()) return help_text(program());
    if (const Command* command = find_command(words)) return command_help(*command);
    std::string text;
    for (const Command& command : kCommands) {
        if (begins_with(split(command.words, ' '), words)) text += command_help(command) + "\n";
    }
    if (text.empty()) throw unknown_command(words);
    text.pop_back();
    return text;
}

std::string completion_words() {
    std::string text;
    for (const Command& command : kCommands) {
        std::string options(command.options);
        std::erase_if(options, [](char c) { return c == '[' || c == ']'; });
        text += std::string(command.words) + ":" + options + "\n";
    }
    return text;
}

Call find_call(const CommandLine& line) {
    const Command* command = find_command(line.arguments);
    if (!command) throw unknown_command(line.arguments);
    const std::span words = line.arguments;
    const auto rest = words.subspan(split(command->words, ' ').size());
    if (command->arguments.empty() && !rest.empty()) {
        throw UsageError("unexpected argument " + printable(rest.front()), command->words);
    }
    check_options(*command, line);
    return {*command, {rest.begin(), rest.end()}};
}

}  // namespace muster::ctl
