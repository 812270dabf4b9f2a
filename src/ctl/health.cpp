// musterctl health.
#include "service/operations/health.hpp"
#include "ctl/command.hpp"

namespace muster::ctl {
namespace {

using service::HealthCheck;

std::string line_of(const HealthCheck& check) {
    constexpr std::size_t kNames = 15;  // configuration
    const bool is_wrong = !check.problem.empty();
    const bool is_doubtful = !check.warning.empty();
    std::string line = is_wrong ? "WRONG  " : is_doubtful ? "WARN   " : "ok     ";
    line += check.name + std::string(kNames - check.name.size(), ' ');
    line += is_wrong ? check.problem : is_doubtful ? check.warning : check.finding;
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

Result reported(const std::vector<HealthCheck>& checks) {
    Result result;
    result.json["checks"] = Json::Value(Json::arrayValue);
    std::string first;
    for (const HealthCheck& check : checks) {
        if (first.empty()) first = check.problem;
        Json::Value& entry = result.json["checks"].append(Json::Value());
        entry["name"] = check.name;
        entry["ok"] = check.problem.empty();
        entry["problem"] = check.problem.empty() ? Json::Value() : Json::Value(check.problem);
        entry["warning"] = check.warning.empty() ? Json::Value() : Json::Value(check.warning);
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
    // main() has read and checked it.
    std::vector<HealthCheck> checks = {{"configuration", "", in.config_path, ""}};
    for (HealthCheck& check : service::check_health(in.context)) {
        checks.push_back(std::move(check));
    }
    return reported(checks);
}

Result show_health_without_configuration(const std::string& reason) {
    return reported({{"configuration", reason, "", ""}});
}

}  // namespace muster::ctl
