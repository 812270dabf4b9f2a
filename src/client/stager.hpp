// Sends the valid rows of a file to a staging job in chunks, two requests at a time: the server
// processes one during the transfer of the other.
#pragma once

#include "client/api_client.hpp"
#include "client/console.hpp"
#include "client/row_source.hpp"
#include "client/server_report.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace muster::client {

class Converter;

struct StagingSetup {
    RowSource& source;  // at its first record
    const Converter& converter;
    RejectedRows& rejected;
    std::size_t chunk_rows;
    std::function<std::unique_ptr<ApiClient>()> connect;  // one more client; called from any thread
    const std::atomic<bool>& stop;
};

class Stager {
  public:
    // The server accepts 16 MiB a call (docs/api/limits.md "Limits").
    static constexpr std::size_t kMostBytes = std::size_t{15} << 20U;

    Stager(StagingSetup setup, Progress& progress)
        : setup_(std::move(setup)), progress_(progress) {}

    // Stages every record that convert() accepts, under its number in the file. Rows that the
    // server rejects (422 with paths rows[i]) are added to `rejected` with its codes, and the rest
    // of their chunk is sent again. Throws what ApiClient throws, and Stopped after the requests in
    // progress. `total`: the number of rows to send.
    void run(const std::string& job, std::uint64_t total);

  private:
    struct Row {
        std::uint32_t number = 0;
        std::string json;
    };
    struct Chunk {
        std::vector<Row> rows;
        std::string body;
    };
    std::optional<Row> next_row();
    Chunk next_chunk();
    bool drop_faulty_rows(Chunk& chunk, const ApiError& error);
    void send(ApiClient& client, const std::string& job, Chunk chunk);
    void work(const std::string& job);

    StagingSetup setup_;
    Progress& progress_;
    std::mutex mutex_;  // over all below, the source, the rejected rows and the progress
    std::optional<Row> pending_;
    std::uint64_t sent_ = 0;
    std::exception_ptr failure_;
};

// 12 for "rows[12].payload.email"; nullopt for any other path.
[[nodiscard]] std::optional<std::size_t> row_index(std::string_view path);

}  // namespace muster::client
