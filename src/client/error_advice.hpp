// What a person does after an error of the service, and how the end of a run is reported.
#pragma once

#include "client/api_client.hpp"
#include "client/options.hpp"

#include <optional>
#include <string>

namespace muster::client {

// "https://x.org cannot be reached: REASON", with the option to check.
[[nodiscard]] std::string unreachable_text(const Options& options, const std::string& reason);

// What to do about the error, without the key; "" if its own text is enough.
[[nodiscard]] std::string error_advice(const Options& options, const ApiError& error);

// Of a run that a signal ended. `job`: as last seen.
[[nodiscard]] std::string stopped_text(const Options& options, const std::optional<ImportJob>& job);

}  // namespace muster::client
