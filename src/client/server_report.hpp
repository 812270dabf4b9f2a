// The server's error report, joined with the imported file.
#pragma once

#include "base/temporary_file.hpp"
#include "client/error_report.hpp"
#include "client/fault_counts.hpp"
#include "client/file_check.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::client {

class ApiClient;

// Faults that the server found while staging, by row number.
using RejectedRows = std::map<std::uint32_t, std::vector<RowFault>>;

// The CSV of GET /v1/imports/{id}/error-report, page after page, in a temporary file. Its rows are
// in the order of their numbers, as in the imported file.
class ServerReport {
  public:
    // Downloads all pages. Throws as ApiClient does.
    void download(ApiClient& api, const std::string& job);

    // Writes all rows with faults to `report`: those of the file, of staging and of the server.
    // Returns the server's faults. Reads the file once.
    [[nodiscard]] FaultCounts join(const FilePlan& plan, const Converter& converter,
                                   const RejectedRows& rejected, ErrorReport& report) const;

  private:
    TemporaryFile bytes_;
};

}  // namespace muster::client
