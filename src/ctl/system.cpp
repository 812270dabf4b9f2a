// musterctl db, config, health.
#include "ctl/command.hpp"
#include "service/mail.hpp"
#include "service/monitoring.hpp"
#include "service/organizations.hpp"
#include "service/schema.hpp"
#include "service/secrets.hpp"

namespace muster::ctl {

Result init_database(const Invocation& in) {
    const bool made = service::initialize_schema(in.without_database, in.context);
    Result result;
    result.json["created"] = made;
    result.json["version"] = service::supported_schema_version();
    result.text = made ? "the schema was made\n" : "the schema was there already\n";
    return result;
}

Result migrate_database(const Invocation& in) {
    Result result;
    result.json["upgrades"] = Json::Value(Json::arrayValue);
    for (const auto& applied : service::upgrade_schema(in.context)) {
        Json::Value entry;
        entry["version"] = applied.version;
        entry["statements"] = static_cast<Json::UInt64>(applied.statements);
        entry["done_before"] = static_cast<Json::UInt64>(applied.done_before);
        result.json["upgrades"].append(std::move(entry));
        result.text += "upgraded to version " + std::to_string(applied.version) + ": " +
                       std::to_string(applied.statements) + " statements, " +
                       std::to_string(applied.done_before) + " of them done before\n";
    }
    const int version = service::supported_schema_version();
    result.json["version"] = version;
    result.text += "the schema is at version " + std::to_string(version) + ", as it should be\n";
    return result;
}

Result database_status(const Invocation& in) {
    const auto installed = service::installed_schema_version(in.context);
    Result result;
    result.json["version"] = installed ? Json::Value(*installed) : Json::Value();
    result.json["supported"] = service::supported_schema_version();
    result.text = "schema: " + (installed ? std::to_string(*installed) : "none") +
                  ", supported: " + std::to_string(service::supported_schema_version()) + "\n";
    result.status = installed == service::supported_schema_version() ? 0 : 1;
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
        result.text += count.what + ": " + std::to_string(count.resealed) + " sealed anew, " +
                       std::to_string(count.current) + " were current, " +
                       std::to_string(count.unreadable) + " unreadable\n";
        if (count.unreadable > 0) result.status = 1;
    }
    return result;
}

Result check_config(const Invocation& in) {
    // It was read and checked before any command runs.
    Result result;
    result.json["file"] = in.config_path;
    result.json["valid"] = true;
    result.text = in.config_path + " is valid\n";
    return result;
}

Result show_health(const Invocation& in) {
    std::string problem = service::check_readiness(in.context).problem;
    if (problem.empty()) problem = service::mail_problem(in.context);
    if (problem.empty()) problem = service::webhook_problem(in.context);
    if (problem.empty()) problem = service::connection_problem(in.context);
    Result result;
    result.json["healthy"] = problem.empty();
    result.json["problem"] = problem.empty() ? Json::Value() : Json::Value(problem);
    result.text = problem.empty() ? "healthy\n" : "not healthy: " + problem + "\n";
    result.status = problem.empty() ? 0 : 1;
    return result;
}

}  // namespace muster::ctl
