#include "client/server_report.hpp"

#include "base/csv.hpp"
#include "base/text.hpp"
#include "client/api_client.hpp"
#include "client/byte_streams.hpp"
#include "client/row_source.hpp"

#include <algorithm>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster::client {
namespace {

constexpr std::string_view kDuplicate = "ROW_DUPLICATE_IN_FILE";

struct ServerRow {
    std::uint32_t number = 0;
    std::string email;
    std::string code;
    std::string message;
};

// Reads the rows of a downloaded report.
class ServerRows {
  public:
    explicit ServerRows(int descriptor)
        : bytes_(file_bytes(descriptor)), stream_(bytes_.get()), reader_(stream_, ',') {
        std::vector<std::string> names;
        if (!reader_.next(names)) return;
        email_ = place(names, "email");
        number_ = place(names, "row_number");
        code_ = place(names, "error_code");
        message_ = place(names, "error_message");
    }

    // A row without a number is skipped: the header line of a further page.
    std::optional<ServerRow> next() {
        while (reader_.next(cells_)) {
            const auto number = parse_number<std::uint32_t>(cell(number_));
            if (number) return ServerRow{*number, cell(email_), cell(code_), cell(message_)};
        }
        return std::nullopt;
    }

  private:
    static std::size_t place(const std::vector<std::string>& names, std::string_view name) {
        return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    }
    std::string cell(std::size_t place) const {
        return place < cells_.size() ? std::string(without_csv_guard(cells_[place])) : "";
    }

    std::unique_ptr<std::streambuf> bytes_;
    std::istream stream_;
    CsvReader reader_;
    std::vector<std::string> cells_;
    std::size_t email_ = 0;
    std::size_t number_ = 0;
    std::size_t code_ = 0;
    std::size_t message_ = 0;
};

// The lines of the rows whose addresses are repeated further down, by the hash of the address.
class FirstLines {
  public:
    explicit FirstLines(int descriptor) {
        ServerRows rows(descriptor);
        while (const std::optional<ServerRow> row = rows.next()) {
            if (row->code == kDuplicate) lines_.emplace(hash(row->email), 0);
        }
    }
    void see(const std::string& email, std::size_t line) {
        const auto found = lines_.find(hash(email));
        if (found != lines_.end() && found->second == 0) found->second = line;
    }
    std::size_t line_of(const std::string& email) const {
        const auto found = lines_.find(hash(email));
        return found == lines_.end() ? 0 : found->second;
    }

  private:
    static std::size_t hash(const std::string& email) { return std::hash<std::string>{}(email); }
    std::unordered_map<std::size_t, std::size_t> lines_;
};

RowFault server_fault(const ServerRow& row, const FirstLines& first_lines) {
    RowFault fault;
    fault.code = row.code;
    fault.rule = row.message;
    fault.is_refusal = true;
    const std::size_t line = row.code == kDuplicate ? first_lines.line_of(row.email) : 0;
    if (line == 0) return fault;
    fault.found = "same address as line " + std::to_string(line);
    fault.rule = "remove one of the two rows";
    return fault;
}

}  // namespace

void ServerReport::download(ApiClient& api, const std::string& job) {
    std::uint32_t after = 0;
    do {
        const std::int64_t whole = bytes_.size();
        // An interrupted page starts again.
        after = api.error_report(
            job, after, [&] { bytes_.truncate(whole); },
            [&](std::string_view piece) { bytes_.write(piece); });
    } while (after > 0);
}

FaultCounts ServerReport::join(const FilePlan& plan, const Converter& converter,
                               const RejectedRows& rejected, ErrorReport& report) const {
    FaultCounts counts;
    FirstLines first_lines(bytes_.descriptor());
    ServerRows server(bytes_.descriptor());
    std::optional<ServerRow> row = server.next();
    RowSource source(plan.file, plan.separator, plan.header);
    report.begin(source.columns(), source.separator());
    std::vector<std::string> cells;
    std::uint32_t number = 0;
    while (source.next(cells, number)) {
        CheckedRecord record = check_record(converter, cells);
        if (const auto found = rejected.find(number); found != rejected.end()) {
            record.faults.insert(record.faults.end(), found->second.begin(), found->second.end());
            for (const RowFault& fault : found->second) counts.add(fault, source.line());
            record.is_rejected = true;
        }
        if (!record.is_rejected) first_lines.see(record.email, source.line());
        while (row && row->number < number) row = server.next();
        if (row && row->number == number) {
            record.faults.push_back(server_fault(*row, first_lines));
            counts.add(record.faults.back(), source.line());
            record.is_rejected = true;
        }
        if (record.faults.empty()) continue;
        report.add({cells, number, source.line(), record.is_rejected, record.faults});
    }
    report.flush();
    return counts;
}

}  // namespace muster::client
