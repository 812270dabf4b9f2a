// Everything that is wrong with a request, gathered before anything is done (docs/api.md "Errors"):
// each fault names its field, a stable code and a sentence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

enum class FieldCode {
    Required,
    UnknownField,
    WrongType,
    TooLong,
    TooShort,
    OutOfRange,
    InvalidEmail,
    InvalidDate,
    InvalidCountry,
    InvalidUrl,
    InvalidUuid,
    InvalidChoice,
    InvalidTimestamp,
    Duplicate,
    UnknownAttribute,
    InvalidValue,
    InvalidCursor,
};

// "invalid_email" and so on: the contract.
std::string_view field_code_text(FieldCode code);
// A sentence for a person; its wording is no contract.
std::string_view field_code_message(FieldCode code);

struct Fault {
    std::string path;  // "rows[3].payload.email"
    FieldCode code;
    std::string message;
};

class Faults {
  public:
    static constexpr std::size_t kMost = 100;

    void add(std::string path, FieldCode code);
    void add(std::string path, FieldCode code, std::string message);
    bool empty() const { return list_.empty(); }
    // Whether something is wrong with that field already.
    bool names(std::string_view path) const;
    // True once a fault had to be left out: then looking further is of no use.
    bool truncated() const { return truncated_; }
    const std::vector<Fault>& list() const { return list_; }

  private:
    std::vector<Fault> list_;
    bool truncated_ = false;
};

}  // namespace muster
