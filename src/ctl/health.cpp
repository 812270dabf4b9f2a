// musterctl health.
#include "service/operations/health.hpp"
#include "ctl/command.hpp"

namespace muster::ctl {
namespace {

using service::HealthCheck;

std::string line_of(const HealthCheck& check) {
    constexpr std::size_t kNames = 15;  // configuration
    std::string line = check.problem.empty() ? "ok     " : "WRONG  ";
    line += check.name + std::string(kNames - check.name.size(), ' ');
    line += check.problem.empty() ? check.finding : check.problem;
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

Result told(const std::vector<HealthCheck>& checks) {
    Result result;
    result.json["checks"] = Json::Value(Json::arrayValue);
    std::string first;
    for (const HealthCheck& check : checks) {
        if (first.empty()) first = check.problem;
        Json::Value& entry = result.json["checks"].append(Json::Value());
        entry["name"] = check.name;
        entry["ok"] = check.problem.empty();
        entry["problem"] = check.problem.empty() ? Json::Value() : Json::Value(check.problem);
        result.text += line_of(check);
    }
    result.json["healthy"] = first.empty();
    result.json["problem"] = first.empty() ? Json::Value() : Json::Value(first);
    result.text += first.empty() ? "healthy\n" : "not healthy\n";
    result.status = first.empty() ? 0 : 1;
    return result;
}

}  // namespace

Result show_health(const Invocation& in) {
    // It was read and checked before any command runs.
    std::vector<HealthCheck> checks = {{"configuration", "", in.config_path}};
    for (HealthCheck& check : service::check_health(in.context)) {
        checks.push_back(std::move(check));
    }
    return told(checks);
}

Result show_health_without_configuration(const std::string& reason) {
    return told({{"configuration", reason, ""}});
}

}  // namespace muster::ctl
