// musterctl db, secret, config.
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "ctl/command.hpp"
#include "service/operations/first_run.hpp"
#include "service/operations/key_rotation.hpp"
#include "service/operations/schema.hpp"
#include "service/operations/triggers.hpp"

#include <algorithm>

namespace muster::ctl {

namespace {

// nullopt: use the configuration's user.
std::optional<service::Administrator> administrator(const Invocation& in) {
    const std::string socket = in.optional("--root-socket");
    if (in.flag("--root-socket") && !socket.starts_with('/')) {
        throw invalid_value("--root-socket", socket, "the path of the database's Unix socket");
    }
    if (in.flag("--root-user") && socket.empty()) {
        throw UsageError("--root-user needs --root-socket");
    }
    if (socket.empty()) return std::nullopt;
    return service::Administrator{socket, in.optional("--root-user", "root")};
}

Result print_installation(const Invocation& in) {
    Result result;
    result.text = service::installation_script(in.context.settings, in.optional("--client-host"));
    result.json["sql"] = result.text;
    return result;
}

// The exit status of `db status`, on which scripts decide.
int status_of(const service::SchemaStatus& status) {
    constexpr int kMigrate = 3;
    constexpr int kInit = 4;
    switch (status.fit) {
        case rules::SchemaFit::Current:
        case rules::SchemaFit::NewerUsable:
            return status.problem.empty() ? 0 : 1;
        case rules::SchemaFit::Older:
            return kMigrate;
        case rules::SchemaFit::None:
            return kInit;
        case rules::SchemaFit::NewerUnusable:
            break;
    }
    return 1;
}

std::string sentence_on(const service::SchemaStatus& status) {
    if (!status.problem.empty()) return status.problem + "\n";
    if (status.fit == rules::SchemaFit::Current) return "the schema matches this program\n";
    return "the schema is newer than this program; this program may use it\n";
}

void report_schema(Result& result, bool made, const std::vector<std::string>& triggers) {
    result.json["created"] = made;
    result.json["version"] = service::supported_schema_version();
    result.json["triggers_created"] = Json::Value(Json::arrayValue);
    result.text += made ? "the schema was created\n" : "the schema exists already\n";
    for (const std::string& name : triggers) {
        result.json["triggers_created"].append(name);
        result.text += "the trigger " + name + " was created\n";
    }
}

Result install_database(const Invocation& in, const service::Administrator& by) {
    const auto installed = service::install_database(in.context, by, in.optional("--client-host"));
    Result result;
    result.json["users"] = Json::Value(Json::arrayValue);
    result.json["users_with_other_rights"] = Json::Value(Json::arrayValue);
    const auto& others = installed.with_other_rights;
    for (const std::string& account : installed.accounts) {
        const bool has_others = std::find(others.begin(), others.end(), account) != others.end();
        result.json["users"].append(account);
        if (has_others) result.json["users_with_other_rights"].append(account);
        result.text += "the database user " + account + " reads and writes " +
                       in.context.settings.database.name +
                       (has_others ? "; it has other privileges that Muster does not need: see "
                                     "SHOW GRANTS and revoke them\n"
                                   : " and has no other privileges\n");
    }
    report_schema(result, installed.schema_made, installed.triggers_made);
    return result;
}

}  // namespace

Result init_database(const Invocation& in) {
    const auto by = administrator(in);
    if (in.flag("--print-sql") && by) {
        throw UsageError("--print-sql does not connect; leave out --root-socket", "db init");
    }
    if (in.flag("--client-host") && !by && !in.flag("--print-sql")) {
        throw UsageError("--client-host needs --root-socket or --print-sql", "db init");
    }
    if (in.flag("--print-sql")) return print_installation(in);
    if (by) return install_database(in, *by);
    const bool made = service::initialize_schema(in.without_database, in.context);
    Result result;
    report_schema(result, made,
                  made ? std::vector<std::string>() : service::restore_triggers(in.context));
    return result;
}

Result migrate_database(const Invocation& in) {
    const auto by = administrator(in);
    const auto migration =
        by ? service::upgrade_schema(in.context, *by) : service::upgrade_schema(in.context);
    Result result;
    result.json["upgrades"] = Json::Value(Json::arrayValue);
    for (const auto& applied : migration.upgrades) {
        Json::Value entry;
        entry["version"] = applied.version;
        entry["statements"] = static_cast<Json::UInt64>(applied.statements);
        entry["done_before"] = static_cast<Json::UInt64>(applied.done_before);
        result.json["upgrades"].append(std::move(entry));
        result.text += "upgraded to version " + std::to_string(applied.version) + ": " +
                       std::to_string(applied.statements) + " statements, " +
                       std::to_string(applied.done_before) + " of them already done\n";
    }
    result.json["version"] = migration.version;
    result.text += "the schema is at version " + std::to_string(migration.version);
    result.text += migration.version == service::supported_schema_version()
                       ? ", which this program expects\n"
                       : ", newer than this program, which may use it: nothing was changed\n";
    return result;
}

Result database_status(const Invocation& in) {
    const auto status = service::inspect_schema(in.context);
    const bool is_there = status.fit != rules::SchemaFit::None;
    const int supported = service::supported_schema_version();
    Result result;
    result.json["state"] = std::string(rules::schema_fit_name(status.fit));
    result.json["version"] = is_there ? Json::Value(status.installed->version) : Json::Value();
    result.json["supported"] = supported;
    result.json["oldest_program"] = is_there && status.installed->oldest_program
                                        ? Json::Value(*status.installed->oldest_program)
                                        : Json::Value();
    result.json["problem"] = status.problem.empty() ? Json::Value() : status.problem;
    result.text = "schema: " + (is_there ? std::to_string(status.installed->version) : "none") +
                  ", supported: " + std::to_string(supported) + "\n" + sentence_on(status);
    result.status = status_of(status);
    return result;
}

Result rotate_secrets(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::objectValue);
    for (const auto& count : service::rotate_secrets(in.context)) {
        Json::Value& entry = result.json[count.what];
        entry["resealed"] = Json::Int64(count.resealed);
        entry["current"] = Json::Int64(count.current);
        entry["unreadable"] = Json::Int64(count.unreadable);
        result.text += count.what + ": " + std::to_string(count.resealed) + " re-encrypted, " +
                       std::to_string(count.current) + " already current, " +
                       std::to_string(count.unreadable) + " unreadable\n";
        if (count.unreadable > 0) result.status = 1;
    }
    return result;
}

Result check_config(const Invocation& in) {
    // main() has read and checked it.
    Result result;
    result.json["file"] = as_utf8(in.config_path);
    result.json["valid"] = true;
    result.text = printable(in.config_path) + " is valid\n";
    return result;
}

}  // namespace muster::ctl
