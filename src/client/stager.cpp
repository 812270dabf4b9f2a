#include "client/stager.hpp"

#include "base/json_bounds.hpp"
#include "base/text.hpp"
#include "client/convert.hpp"

#include <map>
#include <thread>
#include <utility>

namespace muster::client {
namespace {

constexpr std::string_view kBodyStart = R"({"rows":[)";
constexpr std::string_view kBodyEnd = "]}";

// Whether the server would refuse the body (docs/api/conventions.md "Conventions").
bool is_too_large(std::string_view body, const JsonParts& parts) {
    return body.size() + kBodyEnd.size() > Stager::kMostBytes ||
           parts.long_numbers > kMostLongNumbers || parts.entries > kMostJsonEntries;
}

void append_row(std::string& body, std::string_view row) {
    if (body.size() > kBodyStart.size()) body += ',';
    body += row;
}

// "email" of "rows[12].payload.email": a report does not show the index within the request.
std::string field_name(std::string_view path) {
    constexpr std::string_view kPayload = "payload.";
    const auto at = path.find(kPayload);
    return std::string(at == std::string_view::npos ? path : path.substr(at + kPayload.size()));
}

}  // namespace

std::optional<std::size_t> row_index(std::string_view path) {
    constexpr std::string_view kStart = "rows[";
    const auto end = path.find(']');
    if (!path.starts_with(kStart) || end == std::string_view::npos) return std::nullopt;
    return parse_number<std::size_t>(path.substr(kStart.size(), end - kStart.size()));
}

std::optional<Stager::Row> Stager::next_row() {
    if (pending_) return std::exchange(pending_, std::nullopt);
    std::vector<std::string> cells;
    Row row;
    while (setup_.source.next(cells, row.number)) {
        const Converted converted = setup_.converter.convert(cells);
        if (converted.is_refused()) continue;  // reported when the file was checked
        append_row_json(row.json, row.number, converted.fields);
        return row;
    }
    return std::nullopt;
}

Stager::Chunk Stager::next_chunk() {
    Chunk chunk;
    chunk.body = kBodyStart;
    JsonParts parts = count_json_parts(kBodyStart);
    while (chunk.rows.size() < setup_.chunk_rows) {
        std::optional<Row> row = next_row();
        if (!row) break;
        const std::size_t before = chunk.body.size();
        append_row(chunk.body, row->json);
        parts += count_json_parts(std::string_view(chunk.body).substr(before));
        if (is_too_large(chunk.body, parts) && !chunk.rows.empty()) {
            chunk.body.resize(before);
            pending_ = std::move(row);
            break;
        }
        chunk.rows.push_back(std::move(*row));
    }
    chunk.body += kBodyEnd;
    return chunk;
}

// False if the error does not name a row of the chunk, so that a retry would fail again.
bool Stager::drop_faulty_rows(Chunk& chunk, const ApiError& error) {
    std::map<std::size_t, std::vector<RowFault>> faulty;
    for (const ApiError::Field& field : error.fields()) {
        const std::optional<std::size_t> index = row_index(field.path);
        if (!index || *index >= chunk.rows.size()) continue;
        faulty[*index].push_back({field.code, field_name(field.path), "", field.message, true});
    }
    Chunk kept;
    kept.body = kBodyStart;
    for (std::size_t i = 0; i < chunk.rows.size(); ++i) {
        Row& row = chunk.rows[i];
        if (const auto found = faulty.find(i); found != faulty.end()) {
            setup_.rejected[row.number] = std::move(found->second);
            continue;
        }
        append_row(kept.body, row.json);
        kept.rows.push_back(std::move(row));
    }
    kept.body += kBodyEnd;
    chunk = std::move(kept);
    return !faulty.empty();
}

void Stager::send(ApiClient& client, const std::string& job, Chunk chunk) {
    const std::uint64_t rows = chunk.rows.size();
    while (!chunk.rows.empty()) {
        try {
            client.stage_rows(job, chunk.body);
            break;
        } catch (const ApiError& error) {
            if (error.code != "VALIDATION_ERROR") throw;
            const std::lock_guard lock(mutex_);
            if (!drop_faulty_rows(chunk, error)) throw;
        }
    }
    const std::lock_guard lock(mutex_);
    sent_ += rows;
    progress_.update(sent_);
}

void Stager::work(const std::string& job) {
    try {
        const std::unique_ptr<ApiClient> client = setup_.connect();
        for (;;) {
            Chunk chunk;
            {
                const std::lock_guard lock(mutex_);
                if (failure_) return;
                if (setup_.stop) throw Stopped();
                chunk = next_chunk();
            }
            if (chunk.rows.empty()) return;
            send(*client, job, std::move(chunk));
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void Stager::run(const std::string& job, std::uint64_t total) {
    {
        std::jthread second;
        if (total > setup_.chunk_rows) second = std::jthread([this, &job] { work(job); });
        work(job);
    }
    if (failure_) std::rethrow_exception(failure_);
    progress_.finish(sent_);
}

}  // namespace muster::client
