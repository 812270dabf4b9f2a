#include "base/error.hpp"

#include "base/faults.hpp"

#include <array>

namespace muster {
namespace {

constexpr std::array kErrorEntries = {
#define ERROR(name, code, status, message, advice) \
    ErrorEntry{ErrorCode::name, code, status, message, advice},
#include "base/error_codes.def"
#undef ERROR
};

constexpr std::size_t kMostAllowed = 50;
// Of all lists in one error, so that its size is bounded.
constexpr std::size_t kMostAllowedBytes = std::size_t{64} << 10U;

// Writes the limits of one fault. `room` is what remains for lists of allowed values.
void add_limits(const FieldLimits& limits, std::size_t& room, Json::Value& to) {
    const auto number = [&](const char* name, const std::optional<std::int64_t>& value) {
        if (value) to[name] = Json::Int64(*value);
    };
    number("minimum", limits.minimum);
    number("maximum", limits.maximum);
    number("min_length", limits.min_length);
    number("max_length", limits.max_length);
    if (!limits.format.empty()) to["format"] = std::string(limits.format);
    if (limits.allowed.empty() || limits.allowed.size() > kMostAllowed) return;
    std::size_t bytes = 0;
    for (const std::string& value : limits.allowed) bytes += value.size();
    if (bytes > room) return;
    room -= bytes;
    for (const std::string& value : limits.allowed) to["allowed"].append(value);
}

}  // namespace

const ErrorEntry& error_entry(ErrorCode code) {
    return kErrorEntries[static_cast<std::size_t>(code)];
}

Error& Error::detail(std::string_view key, Json::Value value) {
    details_[std::string(key)] = std::move(value);
    return *this;
}

Error& Error::fields(const Faults& faults) {
    Json::Value list(Json::arrayValue);
    std::size_t room = kMostAllowedBytes;
    for (const Fault& fault : faults.list()) {
        Json::Value entry;
        entry["path"] = fault.path;
        entry["code"] = std::string(field_code_text(fault.code));
        entry["message"] = fault.message;
        add_limits(fault.limits, room, entry);
        list.append(std::move(entry));
    }
    details_["fields"] = std::move(list);
    if (faults.truncated()) details_["truncated"] = true;
    return *this;
}

Error& Error::internal(std::string text) {
    internal_ = std::move(text);
    return *this;
}

Error& Error::retry_after(int seconds) {
    retry_after_ = seconds;
    return *this;
}

}  // namespace muster
