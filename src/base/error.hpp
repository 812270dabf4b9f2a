// An API error: a code from error_codes.def, details for the caller, and internal text for the log.
#pragma once

#include <json/value.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

class Faults;

enum class ErrorCode {
#define ERROR(name, code, status, message, advice) name,
#include "base/error_codes.def"
#undef ERROR
};

struct ErrorEntry {
    ErrorCode code;
    std::string_view text;
    int status;
    std::string_view message;
    std::string_view advice;
};

// The row of the catalog.
const ErrorEntry& error_entry(ErrorCode code);

class Error : public std::exception {
  public:
    explicit Error(ErrorCode code) : code_(code), details_(Json::nullValue) {}

    // Adds to `details`, which the caller sees.
    Error& detail(std::string_view key, Json::Value value);
    // Sets `details.fields` from the faults, which must not be empty.
    Error& fields(const Faults& faults);
    // Text for the log. It is never sent.
    Error& internal(std::string text);
    // Seconds for the Retry-After header.
    Error& retry_after(int seconds);

    ErrorCode code() const { return code_; }
    const Json::Value& details() const { return details_; }
    const std::string& internal() const { return internal_; }
    int retry_after() const { return retry_after_; }
    const char* what() const noexcept override { return error_entry(code_).text.data(); }

  private:
    ErrorCode code_;
    Json::Value details_;
    std::string internal_;
    int retry_after_ = 0;
};

}  // namespace muster
