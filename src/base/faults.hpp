// Collects all faults of a request before anything is written (docs/api/errors.md "Errors"). A
// fault has the path of its field, a stable code and a sentence.
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

// "invalid_email" and so on. These texts are part of the API.
std::string_view field_code_text(FieldCode code);
// A sentence for a person. Its wording may change.
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
    // True if the field already has a fault.
    bool contains(std::string_view path) const;
    // True if a fault was dropped because of kMost. Callers may then stop checking.
    bool truncated() const { return truncated_; }
    const std::vector<Fault>& list() const { return list_; }

  private:
    std::vector<Fault> list_;
    bool truncated_ = false;
};

}  // namespace muster
