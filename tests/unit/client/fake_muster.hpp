// The import part of the partner API in memory, for tests of the client: states, staging, a dry run
// that finds duplicates and checks shirt sizes, undos, replays, and a hook to simulate failures.
#pragma once

#include "unit/client/loopback_server.hpp"

#include <json/value.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster::test {

class FakeMuster {
  public:
    static constexpr const char* kJob = "01900000-0000-7000-8000-0000000000aa";

    // Its state and its inputs; access them only between requests.
    std::string state;  // "" = no job
    Json::Value created;
    Json::Value undo;  // the counts of the job
    std::map<std::uint32_t, Json::Value> rows;
    std::vector<std::string> log;                         // "POST /v1/imports" and so on
    std::vector<std::string> keys;                        // Idempotency-Keys, in order
    std::set<std::string> faulty_emails;                  // refused while staging
    std::size_t report_rows = 1000;                       // in a page of the report
    int list_pages = 1;                                   // of the list of jobs, each with the job
    std::string fails_in;                                 // a moving state that ends as "failed"
    std::string created_at = "2026-11-20T10:00:00.000Z";  // of the job
    std::string date;                                     // of the replies; "" = they have none
    std::function<std::optional<ServedResponse>(const ServedRequest&)> before;

    FakeMuster() : server_([this](const ServedRequest& request) { return answer(request); }) {}
    std::string url() const { return server_.url(); }
    int count(const std::string& entry) const;

  private:
    ServedResponse answer(const ServedRequest& request);
    ServedResponse route(const ServedRequest& request);
    ServedResponse create(const ServedRequest& request);
    ServedResponse stage(const ServedRequest& request);
    ServedResponse move(const std::string& from, const std::string& to);
    ServedResponse reopen();
    ServedResponse begin_undo(const ServedRequest& request);
    ServedResponse poll();
    ServedResponse job() const;
    ServedResponse list(const std::string& query) const;
    ServedResponse report(std::uint32_t after) const;
    void dry_run();

    std::mutex mutex_;
    int polls_ = 0;
    std::map<std::uint32_t, std::string> invalid_;
    std::map<std::string, ServedResponse> replies_;  // by path and Idempotency-Key
    LoopbackServer server_;                          // last member: destroyed first
};

}  // namespace muster::test
