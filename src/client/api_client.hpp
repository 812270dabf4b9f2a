// The partner API as the importer uses it (docs/api/imports.md "Imports", GET /v1/attributes): one
// object, one connection, one thread. Transport failures and 429, 502, 503, 504 are retried with
// back-off and jitter. Every call can be repeated safely (row numbers, Idempotency-Key).
#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"
#include "client/stopped.hpp"
#include "net/http_client.hpp"
#include "rules/imports/mapping.hpp"
#include "rules/imports/states.hpp"

#include <json/value.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Attribute;
}

namespace muster::client {

// The server answered with an error, or with a body that this client does not understand (code
// "").
class ApiError : public std::runtime_error {
  public:
    struct Field {
        std::string path;
        std::string code;
        std::string message;
    };
    ApiError(int http_status, std::string error_code, const std::string& message)
        : std::runtime_error(message), status(http_status), code(std::move(error_code)) {}

    int status;
    std::string code;
    Json::Value details;  // object or null
    std::string request_id;
    int retry_after = 0;  // seconds; 0 = not said
    std::string path;     // of the call; "" = not known

    // A text in `details`, of at most 300 bytes and fit for a terminal; "" without it.
    [[nodiscard]] std::string detail(const char* name) const;
    // The entries of details.fields that have the documented shape.
    [[nodiscard]] std::vector<Field> fields() const;
    // "the server answered 422 VALIDATION_ERROR: …" and a line for each field, for the states of
    // IMPORT_JOB_INVALID_STATE, for the reason, for the quota, and for the request id. Fit for a
    // terminal.
    [[nodiscard]] std::string text() const;
};

// Returns after `span`; throws Stopped as soon as `stop` is set.
void wait(Milliseconds span, const std::atomic<bool>& stop);

// The parts of an import job (docs/api/imports.md "Imports") that the importer needs.
struct ImportJob {
    std::string id;
    rules::ImportState state = rules::ImportState::Staging;
    std::string file_name;
    std::uint64_t declared_total = 0;
    std::uint64_t staged = 0;
    std::uint64_t processed = 0;
    std::uint64_t valid = 0;
    std::uint64_t invalid = 0;
    std::uint64_t created = 0;
    std::uint64_t attached = 0;
    std::uint64_t failed = 0;
    bool has_begun = false;  // heartbeat_at is set: a runner has it
    struct Preview {
        std::uint64_t new_members = 0;
        std::uint64_t existing_members = 0;
    };
    std::optional<Preview> preview;
    struct Undo {
        std::uint64_t removed = 0;
        std::uint64_t detached = 0;
        std::uint64_t emptied = 0;
        std::uint64_t kept = 0;
        std::uint64_t unaffected = 0;
        bool is_estimate = false;
    };
    std::optional<Undo> undo;
    std::string failure;  // of a failed job: "code: message"
    std::string created_at;
    int retry_after = 0;  // seconds until the next look is worth it; 0 = not said
    // How far this machine's clock is behind the service's, by the Date of the reply; 0 = not said.
    Milliseconds clock_lag{0};
};

struct NewImport {
    std::string file_name;
    std::uint64_t declared_total = 0;
    rules::Mapping mapping;
};

struct ApiSettings {
    std::string base_url;
    std::string ca_file;
    Secret key;
    int attempts = 8;  // of one call, the first included
    Milliseconds first_pause{500};
    Milliseconds longest_pause{20'000};
};

enum class UndoCall : std::uint8_t { DryRun, Undo };

class ApiClient {
  public:
    // Calls `note` before each pause. `stop` ends a pause (Stopped). Both outlive the client.
    ApiClient(ApiSettings settings, std::function<void(const std::string&)> note,
              const std::atomic<bool>& stop);

    // Each throws ApiError, net::TransportError or Stopped.
    [[nodiscard]] std::vector<rules::Attribute> attributes();
    [[nodiscard]] ImportJob create_import(const NewImport& import);
    // `body` is {"rows":[…]}.
    void stage_rows(const std::string& job, std::string_view body);
    // If the job has left `job.state`, returns it as it is: a request of an earlier run may have
    // arrived late.
    ImportJob validate(const ImportJob& job);
    ImportJob commit(const ImportJob& job);
    ImportJob reopen(const ImportJob& job);
    // Throws ApiError IMPORT_JOB_INVALID_STATE if the state of the job does not allow it.
    ImportJob cancel(const std::string& job);
    ImportJob undo(const std::string& job, UndoCall call);
    [[nodiscard]] ImportJob job(const std::string& job);
    // The newest jobs, at most 200.
    [[nodiscard]] std::vector<ImportJob> jobs();
    // A page of the report, from the row after `after`. `begin` is called before each attempt, then
    // `sink` with the page's pieces. Returns `after` of the next page; 0 on the last one.
    [[nodiscard]] std::uint32_t error_report(const std::string& job, std::uint32_t after,
                                             const std::function<void()>& begin,
                                             const net::HttpClient::BodySink& sink);

  private:
    struct Call {
        std::string method = "GET";
        std::string path;
        std::string_view body;
        std::string idempotency_key;
        const net::HttpClient::BodySink* sink = nullptr;
        const std::function<void()>* begin = nullptr;
    };
    net::HttpResponse send(const Call& call);
    net::HttpResponse attempt(const Call& call);
    Json::Value page_of(const std::string& path, const char* name, std::string& cursor);
    ImportJob send_for_job(const Call& call);
    ImportJob move(const std::string& job, const std::string& verb);
    ImportJob advance(const ImportJob& job, const std::string& verb);
    void pause(int attempt, int retry_after, const std::string& why);

    ApiSettings settings_;
    std::function<void(const std::string&)> note_;
    const std::atomic<bool>& stop_;
    net::HttpClient http_;
};

// The error envelope of an answer; an answer without one is described by its status.
[[nodiscard]] ApiError error_of(const net::HttpResponse& response);
// Throws ApiError for a value that is not an import job.
[[nodiscard]] ImportJob job_of(const Json::Value& value);

}  // namespace muster::client
