#include "base/text.hpp"
#include "ctl/command.hpp"

#include <algorithm>
#include <array>

namespace muster::ctl {
namespace {

constexpr std::array kCommands = {
    Command{"db init", "[--root-socket] [--root-user] [--client-host] [--print-sql]", "",
            "make the database, its user and the schema, or print how", init_database, false},
    Command{"db migrate", "[--root-socket] [--root-user]", "",
            "bring the schema to this program's version", migrate_database, false},
    Command{"db status", "", "", "show the schema's version", database_status, false},
    Command{"org create", "--name", "", "make an organization", create_org},
    Command{"org list", "", "", "list the organizations", list_orgs},
    Command{"admin add", "--org --email [--role]", "",
            "give an admin a seat (role owner, admin or viewer)", add_admin},
    Command{"admin list", "--org", "", "list who has a seat in an organization", list_admins},
    Command{"admin remove", "--org --email", "",
            "take an admin's seat away, from the next request on", remove_admin},
    Command{"admin reset-2fa", "--email", "",
            "take an admin's second factor and sessions away; the next sign-in enrolls anew",
            reset_two_factor},
    Command{"key issue", "--org --name [--expires] [--rate] [--burst]", "",
            "issue an API key; it is shown this once", issue_key},
    Command{"key list", "--org", "", "list an organization's API keys", list_keys},
    Command{"key revoke", "--org --id", "", "revoke an API key, from the next request on",
            revoke_key},
    Command{"tracking-key issue", "--org --name --origins [--expires] [--rate] [--burst]", "",
            "issue a key for web pages of these origins (a,b,c) to send events and show ads with",
            issue_tracking_key},
    Command{"tracking-key list", "--org", "", "list an organization's tracking keys",
            list_tracking_keys},
    Command{"tracking-key revoke", "--org --id", "",
            "revoke a tracking key, from the next request on", revoke_tracking_key},
    Command{"content-key issue", "--org --name --origins [--expires]", "",
            "issue a key for web pages of these origins (a,b,c) to read articles with",
            issue_content_key},
    Command{"content-key list", "--org", "", "list an organization's content keys",
            list_content_keys},
    Command{"content-key revoke", "--org --id", "",
            "revoke a content key, from the next request on", revoke_content_key},
    Command{"attribute list", "--org", "", "list the attribute registry", list_attributes},
    Command{"attribute enable", "--org", "KEY...", "enable attributes", enable_attributes},
    Command{"attribute disable", "--org", "KEY...", "disable attributes", disable_attributes},
    Command{"attribute add", "--org --key --type [--label] [--choices]", "",
            "add an attribute, enabled (choices: a,b,c)", add_attribute},
    Command{"import list", "--org", "", "list an organization's import jobs, newest first",
            list_imports},
    Command{"import show", "--org --id", "", "show an import job", show_import},
    Command{"import cancel", "--org --id", "", "cancel an import job that has not begun to commit",
            cancel_import},
    Command{"webhook list", "--org", "",
            "list an organization's webhook endpoints, and how many deliveries wait and failed",
            list_webhooks},
    Command{"webhook recover", "--org --endpoint --since", "",
            "send an endpoint again what failed or was canceled since a time", recover_webhooks},
    Command{"provider list", "", "",
            "list the providers of external data, and which ones admins can connect",
            list_providers, false},
    Command{"provider check", "[--provider]", "",
            "ask the providers that are ready whether they accept this installation",
            check_providers, false},
    Command{"secret rotate", "", "", "seal anew what rests under security.previous_key_file",
            rotate_secrets},
    Command{"user erase", "--email [--yes]", "",
            "show what is kept of a person in all organizations; with --yes, erase it", erase_user},
    Command{"audit", "[--org] [--limit] [--action]", "",
            "show what operators and admins did, newest first", show_audit_log},
    Command{"config check", "", "", "check the configuration file", check_config, false},
    Command{"health", "", "", "say what is wrong and what to do", show_health, false},
};

constexpr const char* kUsageHead =
    "Usage: musterctl [--config FILE] [--json] COMMAND [OPTION VALUE]... [ARGUMENT]...\n"
    "Manages an installation of Muster.\n"
    "  --config FILE    configuration (default $MUSTER_CONFIG or /etc/muster/muster.conf)\n"
    "  --json           print the result as JSON\n"
    "  --help, --version\n\nCommands:\n";

}  // namespace

const std::string& Invocation::required(std::string_view option) const {
    const auto found = options.find(option);
    if (found == options.end() || found->second.empty()) {
        throw UsageError(std::string(option) + " is missing");
    }
    return found->second;
}

std::string Invocation::optional(std::string_view option, std::string_view fallback) const {
    const auto found = options.find(option);
    return found == options.end() ? std::string(fallback) : found->second;
}

OrgId Invocation::organization() const {
    const auto id = OrgId::parse(required("--org"));
    if (!id) throw UsageError("--org wants an organization's id (musterctl org list)");
    return *id;
}

bool is_flag(std::string_view option) {
    return option == "--yes" || option == "--print-sql";
}

std::span<const Command> commands() {
    return kCommands;
}

std::string usage() {
    std::string text = kUsageHead;
    for (const Command& command : kCommands) {
        std::string line = "  " + std::string(command.words);
        for (const std::string_view part : {command.options, command.arguments}) {
            if (!part.empty()) line += " " + std::string(part);
        }
        constexpr std::size_t kColumn = 46;
        line += line.size() < kColumn ? std::string(kColumn - line.size(), ' ')
                                      : "\n" + std::string(kColumn, ' ');
        text += line + std::string(command.help) + "\n";
    }
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

const Command& find_command(const std::vector<std::string>& words, std::size_t& used) {
    for (const Command& command : kCommands) {
        const auto wanted = split(command.words, ' ');
        if (words.size() < wanted.size()) continue;
        if (!std::equal(wanted.begin(), wanted.end(), words.begin())) continue;
        used = wanted.size();
        return command;
    }
    throw UsageError(words.empty() ? "no command given" : "unknown command " + words.front());
}

}  // namespace muster::ctl
