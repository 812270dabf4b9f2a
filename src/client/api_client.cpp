#include "client/api_client.hpp"

#include "base/config.h"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "rules/attributes.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

namespace muster::client {
namespace {

constexpr int kLongestRetryAfter = 120;  // seconds; a server that asks for more is not waited for

net::HttpSettings http_settings(const ApiSettings& settings) {
    net::HttpSettings http;
    http.ca_file = settings.ca_file;
    http.user_agent = "muster-import/" MUSTER_VERSION;
    http.environment_proxy = true;
    return http;
}

std::string text_at(const Json::Value& object, const char* name) {
    const Json::Value& value = object[name];
    return value.isString() ? value.asString() : std::string();
}

std::uint64_t count_at(const Json::Value& object, const char* name) {
    const Json::Value& value = object[name];
    return value.isUInt64() ? value.asUInt64() : 0;
}

ApiError not_understood(const std::string& what) {
    return {200, "", "a reply that is not Muster's (" + what + "); check the URL"};
}

Json::Value object_in(const net::HttpResponse& response, const std::string& path) {
    Json::Value value;
    if (!parse_json(response.body, value) || !value.isObject()) throw not_understood(path);
    return value;
}

int retry_after_of(const net::HttpResponse& response) {
    return parse_number<int>(response.header("retry-after")).value_or(0);
}

Milliseconds clock_lag_of(const net::HttpResponse& response) {
    const std::optional<Timestamp> date = response.date();
    return date ? *date - Timestamp::now() : Milliseconds(0);
}

bool is_passing(const ApiError& error) {
    const bool is_busy = error.status == 429 || (error.status >= 502 && error.status <= 504);
    return (is_busy || error.code == "IDEMPOTENCY_IN_PROGRESS") &&
           error.retry_after <= kLongestRetryAfter;
}

// Whether the peer does not speak TLS, or not with us: no later handshake will succeed. OpenSSL
// reports an interrupted connection as "SSL_..." or as an unexpected end.
bool is_lasting(const net::TransportError& error) {
    const std::string_view text = error.what();
    const bool is_interrupted = text.find("SSL_") != std::string_view::npos ||
                                text.find("unexpected eof") != std::string_view::npos;
    const bool is_tls_fault = text.find("SSL routines") != std::string_view::npos;
    return !error.is_transient() || (is_tls_fault && !is_interrupted);
}

// An Idempotency-Key for one call and its retries. A later call needs another one: the server
// answers a known key with its first reply, and a job can be reopened and validated again.
std::string key_of_call(const std::string& verb) {
    return "muster-import-" + verb + "-" + Uuid::v7().text();
}

std::string mapping_json(const NewImport& import) {
    std::string json;
    JsonWriter writer(json);
    writer.begin_object();
    writer.key("file_name");
    writer.string(import.file_name);
    writer.key("declared_total");
    writer.number(static_cast<std::int64_t>(import.declared_total));
    writer.key("mapping");
    writer.begin_object();
    writer.key("columns");
    writer.begin_array();
    for (const rules::MappingColumn& column : import.mapping.columns) {
        writer.begin_object();
        const auto add = [&writer](std::string_view name, std::string_view text) {
            if (text.empty()) return;
            writer.key(name);
            writer.string(text);
        };
        add("sourceColumn", column.source_column);
        add("target", column.target);
        add("fieldKey", column.field_key);
        add("attributeKey", column.attribute_key);
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    writer.end_object();
    return json;
}

rules::Attribute attribute_of(const Json::Value& value) {
    const auto type =
        value.isObject() ? parse<rules::AttributeType>(text_at(value, "type")) : std::nullopt;
    if (!type) throw not_understood("attribute type");
    rules::Attribute attribute;
    attribute.key = text_at(value, "key");
    attribute.label = text_at(value, "label");
    attribute.type = *type;
    attribute.enabled = value["enabled"].isBool() && value["enabled"].asBool();
    for (const Json::Value& choice : value["choices"]) {
        if (choice.isString()) attribute.choices.push_back(choice.asString());
    }
    return attribute;
}

}  // namespace

std::vector<ApiError::Field> ApiError::fields() const {
    std::vector<Field> list;
    if (!details.isObject() || !details["fields"].isArray()) return list;
    for (const Json::Value& field : details["fields"]) {
        if (field.isObject())
            list.push_back(
                {text_at(field, "path"), text_at(field, "code"), text_at(field, "message")});
    }
    return list;
}

std::string ApiError::detail(const char* name) const {
    constexpr std::size_t kMostShown = 300;
    const std::string text = details.isObject() ? text_at(details, name) : "";
    if (text.size() <= kMostShown) return printable(text);
    return printable(text.substr(0, kMostShown)) + "...";
}

std::string ApiError::text() const {
    std::string lines = "the server answered " + std::to_string(status);
    if (!code.empty()) lines += " " + printable(code);
    lines += ": " + printable(what());
    for (const Field& field : fields())
        lines += "\n  " + printable(field.path + ": " + field.code + ": " + field.message);
    if (code == "IMPORT_JOB_INVALID_STATE" && details.isObject())
        lines += "\n  the job is " + detail("state") + "; it must be " + detail("expected");
    // The reason of UNAUTHORIZED is a word for programs.
    const std::string reason = code == "UNAUTHORIZED" ? "" : detail("reason");
    if (!reason.empty()) lines += "\n  reason: " + reason;
    if (code == "QUOTA_EXCEEDED" && !detail("quota").empty())
        lines += "\n  quota " + detail("quota") + " frees at " + detail("frees_at");
    if (!request_id.empty()) lines += "\n  X-Request-Id: " + printable(request_id);
    return lines;
}

void wait(Milliseconds span, const std::atomic<bool>& stop) {
    constexpr Milliseconds kSlice{50};
    const auto end = std::chrono::steady_clock::now() + span;
    while (!stop) {
        const auto left = end - std::chrono::steady_clock::now();
        if (left <= std::chrono::steady_clock::duration::zero()) return;
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kSlice));
    }
    throw Stopped();
}

ApiError error_of(const net::HttpResponse& response) {
    Json::Value body;
    Json::Value envelope;
    if (parse_json(response.body, body) && body.isObject() && body["error"].isObject())
        envelope = body["error"];
    const std::string foreign = response.status >= 500
                                    ? "a reply that is not Muster's; the service may be down"
                                    : "a reply that is not Muster's; check the URL";
    std::string message = envelope.isNull() ? foreign : text_at(envelope, "message");
    if (response.status >= 300 && response.status <= 399) {
        message =
            "a redirect to " + std::string(response.header("location")) + "; use the right URL";
    }
    ApiError error(response.status, text_at(envelope, "code"), message);
    error.details = std::as_const(envelope)["details"];
    error.request_id = response.header("x-request-id");
    error.retry_after = retry_after_of(response);
    return error;
}

ImportJob job_of(const Json::Value& value) {
    const auto state =
        value.isObject() ? parse<rules::ImportState>(text_at(value, "state")) : std::nullopt;
    if (!state || text_at(value, "id").empty()) throw not_understood("import job");
    ImportJob job;
    job.id = text_at(value, "id");
    job.state = *state;
    job.file_name = text_at(value, "file_name");
    job.declared_total = count_at(value, "declared_total");
    job.staged = count_at(value, "staged_rows");
    job.processed = count_at(value, "processed_rows");
    job.valid = count_at(value, "valid_rows");
    job.invalid = count_at(value, "invalid_rows");
    job.created = count_at(value, "created_count");
    job.attached = count_at(value, "attached_count");
    job.failed = count_at(value, "failed_count");
    job.created_at = text_at(value, "created_at");
    job.has_begun = value["heartbeat_at"].isString();
    if (const Json::Value& undo = value["undo"]; undo.isObject()) {
        const Json::Value& is_estimate = undo["is_estimate"];
        job.undo = {count_at(undo, "removed"),    count_at(undo, "detached"),
                    count_at(undo, "emptied"),    count_at(undo, "kept"),
                    count_at(undo, "unaffected"), is_estimate.isBool() && is_estimate.asBool()};
    }
    if (const Json::Value& preview = value["preview"]; preview.isObject()) {
        job.preview = {count_at(preview, "new_members"), count_at(preview, "existing_members")};
    }
    if (const Json::Value& failure = value["failure"]; failure.isObject()) {
        job.failure = text_at(failure, "code") + ": " + text_at(failure, "message");
    }
    return job;
}

ApiClient::ApiClient(ApiSettings settings, std::function<void(const std::string&)> note,
                     const std::atomic<bool>& stop)
    : settings_(std::move(settings)),
      note_(std::move(note)),
      stop_(stop),
      http_(http_settings(settings_)) {}

net::HttpResponse ApiClient::attempt(const Call& call) {
    net::HttpRequest request;
    request.method = call.method;
    request.url = settings_.base_url + call.path;
    request.body = call.body;
    request.headers.emplace_back("Authorization", "Bearer " + settings_.key.reveal());
    request.headers.emplace_back(
        "Accept", call.sink == nullptr ? "application/json" : "text/csv, application/json");
    if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    if (!call.idempotency_key.empty())
        request.headers.emplace_back("Idempotency-Key", call.idempotency_key);
    if (call.begin != nullptr) (*call.begin)();
    net::HttpResponse response =
        call.sink == nullptr ? http_.perform(request) : http_.download(request, *call.sink);
    if (response.status < 200 || response.status > 299) {
        ApiError error = error_of(response);
        error.path = call.path;
        throw error;
    }
    return response;
}

void ApiClient::pause(int attempt, int retry_after, const std::string& why) {
    thread_local std::minstd_rand random(std::random_device{}());
    const auto doubled = settings_.first_pause * (std::int64_t{1} << std::min(attempt - 1, 20));
    const std::int64_t most = std::min<Milliseconds>(doubled, settings_.longest_pause).count();
    Milliseconds span(std::uniform_int_distribution<std::int64_t>(most / 2, most)(random));
    span = std::max(span, Milliseconds(std::int64_t{1000} * retry_after));
    std::string text = std::to_string((span.count() + 50) / 1000) + "." +
                       std::to_string((span.count() + 50) / 100 % 10);
    note_(why + "; trying again in " + text + " s");
    wait(span, stop_);
}

net::HttpResponse ApiClient::send(const Call& call) {
    for (int count = 1;; ++count) {
        try {
            return attempt(call);
        } catch (const ApiError& error) {
            if (!is_passing(error) || count >= settings_.attempts) throw;
            pause(count, error.retry_after,
                  "the server answered " + std::to_string(error.status) + " " +
                      printable(error.code));
        } catch (const net::TransportError& error) {
            if (is_lasting(error) || count >= settings_.attempts) throw;
            pause(count, 0, std::string("the connection failed (") + error.what() + ")");
        }
    }
}

ImportJob ApiClient::send_for_job(const Call& call) {
    const net::HttpResponse response = send(call);
    ImportJob job = job_of(object_in(response, call.path));
    job.retry_after = std::clamp(retry_after_of(response), 0, kLongestRetryAfter);
    job.clock_lag = clock_lag_of(response);
    return job;
}

// A page of a list, whose entries are in the array `name`. Moves the cursor; "" after the last one.
Json::Value ApiClient::page_of(const std::string& path, const char* name, std::string& cursor) {
    Call call;
    call.path = path + "?limit=100" + (cursor.empty() ? "" : "&cursor=" + percent_encoded(cursor));
    Json::Value page = object_in(send(call), call.path);
    if (!page[name].isArray()) throw not_understood(call.path);
    std::string next = text_at(page, "next_cursor");
    if (!next.empty() && next == cursor) throw not_understood("a cursor that goes nowhere");
    cursor = std::move(next);
    return page;
}

std::vector<rules::Attribute> ApiClient::attributes() {
    std::vector<rules::Attribute> attributes;
    std::string cursor;
    do {
        const Json::Value page = page_of("/v1/attributes", "attributes", cursor);
        for (const Json::Value& value : page["attributes"])
            attributes.push_back(attribute_of(value));
    } while (!cursor.empty());
    return attributes;
}

ImportJob ApiClient::create_import(const NewImport& import) {
    const std::string body = mapping_json(import);
    Call call;
    call.method = "POST";
    call.path = "/v1/imports";
    call.body = body;
    call.idempotency_key = key_of_call("create");
    return send_for_job(call);
}

void ApiClient::stage_rows(const std::string& job, std::string_view body) {
    Call call;
    call.method = "POST";
    call.path = "/v1/imports/" + job + "/rows";
    call.body = body;
    send(call);
}

ImportJob ApiClient::move(const std::string& job, const std::string& verb) {
    Call call;
    call.method = "POST";
    call.path = "/v1/imports/" + job + "/" + verb;
    call.idempotency_key = key_of_call(verb);
    return send_for_job(call);
}

ImportJob ApiClient::advance(const ImportJob& job, const std::string& verb) {
    try {
        return move(job.id, verb);
    } catch (const ApiError& error) {
        if (error.code != "IMPORT_JOB_INVALID_STATE") throw;
        ImportJob current = this->job(job.id);
        if (current.state == job.state) throw;
        return current;
    }
}

ImportJob ApiClient::validate(const ImportJob& job) {
    return advance(job, "validate");
}
ImportJob ApiClient::commit(const ImportJob& job) {
    return advance(job, "commit");
}
ImportJob ApiClient::reopen(const ImportJob& job) {
    return advance(job, "reopen");
}
ImportJob ApiClient::cancel(const std::string& job) {
    return move(job, "cancel");
}

ImportJob ApiClient::undo(const std::string& job, UndoCall kind) {
    Call call;
    call.method = "POST";
    call.path = "/v1/imports/" + job + "/undo";
    call.body = kind == UndoCall::DryRun ? R"({"dry_run":true})" : R"({"dry_run":false})";
    call.idempotency_key = key_of_call("undo");
    return send_for_job(call);
}

ImportJob ApiClient::job(const std::string& job) {
    Call call;
    call.path = "/v1/imports/" + job;
    return send_for_job(call);
}

std::vector<ImportJob> ApiClient::jobs() {
    constexpr std::size_t kMostJobs = 200;
    constexpr int kMostPages = 500;  // a page may be empty
    std::vector<ImportJob> jobs;
    std::string cursor;
    for (int pages = 0; pages < kMostPages && jobs.size() < kMostJobs; ++pages) {
        const Json::Value page = page_of("/v1/imports", "imports", cursor);
        for (const Json::Value& value : page["imports"]) jobs.push_back(job_of(value));
        if (cursor.empty()) break;
    }
    jobs.resize(std::min(jobs.size(), kMostJobs));
    return jobs;
}

std::uint32_t ApiClient::error_report(const std::string& job, std::uint32_t after,
                                      const std::function<void()>& begin,
                                      const net::HttpClient::BodySink& sink) {
    Call call;
    call.path = "/v1/imports/" + job + "/error-report";
    if (after > 0) call.path += "?after=" + std::to_string(after);
    call.sink = &sink;
    call.begin = &begin;
    const net::HttpResponse response = send(call);
    const auto next = parse_number<std::uint32_t>(response.header("x-next-after")).value_or(0);
    if (next != 0 && next <= after) throw not_understood("a page that goes nowhere");
    return next;
}

}  // namespace muster::client
