// Collects all faults of a request before anything is written (docs/api/errors.md "Errors"). A
// fault has the path of its field, a stable code and a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
// The code with this text, or nullopt.
std::optional<FieldCode> parse_field_code(std::string_view text);
// A sentence for a person. Its wording may change.
std::string_view field_code_message(FieldCode code);

// What the field accepts, as far as it helps to fix the fault. A length counts the characters of a
// text, the entries of an array, or the bytes of a JSON value.
struct FieldLimits {
    std::vector<std::string> allowed = {};
    std::optional<std::int64_t> minimum = {};
    std::optional<std::int64_t> maximum = {};
    std::optional<std::int64_t> min_length = {};
    std::optional<std::int64_t> max_length = {};
    std::string_view format = {};  // "date"; a constant
};

// The sentence for this code with the limits: "is too long; the maximum is 255".
std::string fault_message(FieldCode code, const FieldLimits& limits);

inline FieldLimits shortest(std::size_t length) {
    return {.min_length = static_cast<std::int64_t>(length)};
}
inline FieldLimits longest(std::size_t length) {
    return {.max_length = static_cast<std::int64_t>(length)};
}
inline FieldLimits between(std::int64_t minimum, std::int64_t maximum) {
    return {.minimum = minimum, .maximum = maximum};
}

struct Fault {
    std::string path;  // "rows[3].payload.email"
    FieldCode code;
    std::string message;
    FieldLimits limits = {};
};

class Faults {
  public:
    static constexpr std::size_t kMost = 100;

    explicit Faults(std::size_t most = kMost) : most_(most) {}
    void add(std::string path, FieldCode code, FieldLimits limits = {});
    void add(std::string path, FieldCode code, std::string message, FieldLimits limits = {});
    bool empty() const { return list_.empty(); }
    // True if the field already has a fault.
    bool contains(std::string_view path) const;
    // Whether the next fault will be dropped. Callers need not describe it.
    bool is_full() const { return list_.size() >= most_; }
    // Notes that a fault was dropped.
    void truncate() { truncated_ = true; }
    // True if a fault was dropped. Callers may then stop checking.
    bool truncated() const { return truncated_; }
    const std::vector<Fault>& list() const { return list_; }

  private:
    std::size_t most_;
    std::vector<Fault> list_;
    bool truncated_ = false;
};

}  // namespace muster
