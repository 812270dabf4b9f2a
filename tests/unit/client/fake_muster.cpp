#include "unit/client/fake_muster.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::test {
namespace {

constexpr int kPollsPerMove = 2;  // before a moving state ends

ServedResponse json(int status, const Json::Value& value) {
    ServedResponse response;
    response.status = status;
    response.body = json_text(value);
    response.headers = {{"X-Request-Id", "req-1"}};
    return response;
}

ServedResponse error(int status, const std::string& code, const Json::Value& details) {
    Json::Value value;
    value["error"]["code"] = code;
    value["error"]["status"] = status;
    value["error"]["message"] = "made up by a test";
    if (!details.isNull()) value["error"]["details"] = details;
    return json(status, value);
}

Json::Value attribute(const std::string& key, const std::string& type) {
    Json::Value value;
    value["key"] = key;
    value["label"] = key;
    value["type"] = type;
    value["choices"] = Json::Value(Json::arrayValue);
    if (type == "single_choice") {
        for (const char* choice : {"S", "M", "L"}) value["choices"].append(choice);
    }
    if (type == "multi_choice") {
        for (int i = 1; i <= 300; ++i) value["choices"].append("c" + std::to_string(i));
    }
    value["enabled"] = true;
    return value;
}

ServedResponse attributes(bool second_page) {
    Json::Value value;
    value["attributes"].append(second_page ? attribute("shirt_size", "single_choice")
                                           : attribute("phone", "text"));
    if (second_page) value["attributes"].append(attribute("fee", "number"));
    if (second_page) value["attributes"].append(attribute("courses", "multi_choice"));
    value["next_cursor"] = second_page ? Json::Value() : Json::Value("a+b");
    return json(200, value);
}

}  // namespace

int FakeMuster::count(const std::string& entry) const {
    return static_cast<int>(std::count(log.begin(), log.end(), entry));
}

ServedResponse FakeMuster::answer(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    log.push_back(request.method + " " + request.path);
    const auto key = request.headers.find("idempotency-key");
    if (key != request.headers.end()) keys.push_back(key->second);
    if (!request.headers.contains("authorization")) return error(401, "UNAUTHORIZED", {});
    if (before) {
        if (auto response = before(request)) return *response;
    }
    if (key == request.headers.end()) {
        ServedResponse response = route(request);
        if (!date.empty()) response.headers.emplace_back("Date", date);
        return response;
    }
    const std::string scope = request.path + " " + key->second;
    if (const auto known = replies_.find(scope); known != replies_.end()) return known->second;
    ServedResponse response = route(request);
    if (response.status < 400) replies_[scope] = response;
    return response;
}

ServedResponse FakeMuster::route(const ServedRequest& request) {
    const std::string base = std::string("/v1/imports/") + kJob;
    const std::string what = request.method + " " + request.path;
    if (what.starts_with("GET /v1/attributes"))
        return attributes(request.path.find("cursor=a%2Bb") != std::string::npos ||
                          request.path.find("cursor=a%2bb") != std::string::npos);
    if (what == "POST /v1/imports") return create(request);
    const std::string jobs = "GET /v1/imports?limit=100";
    if (what.starts_with(jobs)) return list(what.substr(jobs.size()));
    if (state.empty()) return error(404, "NOT_FOUND", {});
    if (what == "GET " + base) return poll();
    if (what == "POST " + base + "/rows") return stage(request);
    if (what == "POST " + base + "/validate") return move("staging", "validating");
    if (what == "POST " + base + "/commit") return move("validated", "committing");
    if (what == "POST " + base + "/reopen") return reopen();
    if (what == "POST " + base + "/cancel") return move(state, "canceled");
    if (what == "POST " + base + "/undo") return begin_undo(request);
    const std::string download = "GET " + base + "/error-report";
    if (what == download) return report(0);
    if (what.starts_with(download + "?after=")) {
        return report(parse_number<std::uint32_t>(what.substr(download.size() + 7)).value());
    }
    return error(404, "NOT_FOUND", {});
}

ServedResponse FakeMuster::create(const ServedRequest& request) {
    if (!state.empty()) {
        Json::Value details;
        details["job_id"] = kJob;
        return error(409, "IMPORT_JOB_ACTIVE_EXISTS", details);
    }
    static_cast<void>(parse_json(request.body, created));
    rows.clear();
    invalid_.clear();
    state = "staging";
    ServedResponse response = job();
    response.status = 201;
    return response;
}

ServedResponse FakeMuster::stage(const ServedRequest& request) {
    if (state != "staging") return error(409, "IMPORT_JOB_INVALID_STATE", {});
    Json::Value body;
    static_cast<void>(parse_json(request.body, body));
    Json::Value details;
    for (Json::ArrayIndex i = 0; i < body["rows"].size(); ++i) {
        if (!faulty_emails.contains(body["rows"][i]["payload"]["email"].asString())) continue;
        Json::Value field;
        field["path"] = "rows[" + std::to_string(i) + "].payload.email";
        field["code"] = "invalid_email";
        field["message"] = "is not an email address";
        details["fields"].append(field);
    }
    if (!details.isNull()) return error(422, "VALIDATION_ERROR", details);
    for (const Json::Value& row : body["rows"]) rows[row["rowNumber"].asUInt()] = row["payload"];
    Json::Value value;
    value["staged"] = body["rows"].size();
    return json(200, value);
}

ServedResponse FakeMuster::move(const std::string& from, const std::string& to) {
    if (state != from) return error(409, "IMPORT_JOB_INVALID_STATE", {});
    state = to;
    polls_ = 0;
    ServedResponse response = job();
    response.status = to == "canceled" ? 200 : 202;
    return response;
}

ServedResponse FakeMuster::reopen() {
    return move(state == "staging" ? "staging" : "validated", "staging");
}

ServedResponse FakeMuster::begin_undo(const ServedRequest& request) {
    Json::Value body;
    static_cast<void>(parse_json(request.body, body));
    return move(state, body["dry_run"].asBool() ? state : "undoing");
}

ServedResponse FakeMuster::poll() {
    static const std::map<std::string, std::string> kNext = {
        {"validating", "validated"}, {"committing", "completed"}, {"undoing", "undone"}};
    const auto next = kNext.find(state);
    if (next != kNext.end() && ++polls_ >= kPollsPerMove) {
        if (state == "validating") dry_run();
        state = state == fails_in ? "failed" : next->second;
    }
    return job();
}

void FakeMuster::dry_run() {
    std::set<std::string> seen;
    const std::set<std::string> sizes = {"", "S", "M", "L"};
    invalid_.clear();
    for (const auto& [number, payload] : rows) {
        if (!seen.insert(payload["email"].asString()).second)
            invalid_[number] = "ROW_DUPLICATE_IN_FILE";
        if (!sizes.contains(payload["attributes"]["shirt_size"].asString()))
            invalid_[number] = "ROW_ATTR_INVALID_VALUE";
    }
}

ServedResponse FakeMuster::job() const {
    const auto number = [](std::size_t count) {
        return Json::Value(static_cast<Json::UInt64>(count));
    };
    const bool is_validated = state != "staging" && state != "validating";
    const std::size_t valid = rows.size() - invalid_.size();
    Json::Value value;
    value["id"] = kJob;
    value["state"] = state;
    value["file_name"] = created["file_name"];
    value["declared_total"] = created["declared_total"];
    value["staged_rows"] = number(rows.size());
    value["processed_rows"] = number(polls_ > 0 ? rows.size() / 2 : 0);
    value["valid_rows"] = number(is_validated ? valid : 0);
    value["invalid_rows"] = number(is_validated ? invalid_.size() : 0);
    value["created_count"] = number(state == "completed" ? valid : 0);
    value["attached_count"] = 0;
    value["failed_count"] = 0;
    value["created_at"] = created_at;
    value["heartbeat_at"] = polls_ > 0 ? Json::Value("2026-11-20T10:00:00.000Z") : Json::Value();
    value["preview"] = Json::Value();
    if (is_validated) {
        value["preview"]["new_members"] = number(valid);
        value["preview"]["existing_members"] = 0;
    }
    value["undo"] = undo;
    value["failure"] = Json::Value();
    if (state == "failed") {
        value["failure"]["code"] = "RUNNER_GAVE_UP";
        value["failure"]["message"] = "after 5 attempts";
    }
    return json(200, value);
}

// The cursor of a page is its number.
ServedResponse FakeMuster::list(const std::string& query) const {
    Json::Value one;
    static_cast<void>(parse_json(job().body, one));
    Json::Value value;
    value["imports"].append(one);
    const int page = query.empty() ? 1 : parse_number<int>(query.substr(8)).value();  // &cursor=
    if (page < list_pages) value["next_cursor"] = std::to_string(page + 1);
    return json(200, value);
}

ServedResponse FakeMuster::report(std::uint32_t after) const {
    ServedResponse response;
    response.headers = {{"Content-Type", "text/csv"}};
    response.body =
        "email,external_id,first_name,last_name,display_name,locale,country,dob,attributes,row_"
        "number,"
        "error_code,error_message\r\n";
    std::size_t count = 0;
    std::uint32_t last = 0;
    for (const auto& [number, code] : invalid_) {
        if (number <= after) continue;
        if (count++ == report_rows) {
            response.headers.emplace_back("X-Next-After", std::to_string(last));
            break;
        }
        last = number;
        response.body += rows.at(number)["email"].asString() + ",,,,,,,,," +
                         std::to_string(number) + "," + code + ",no\r\n";
    }
    return response;
}

}  // namespace muster::test
