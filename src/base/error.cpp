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
    for (const Fault& fault : faults.list()) {
        Json::Value entry;
        entry["path"] = fault.path;
        entry["code"] = std::string(field_code_text(fault.code));
        entry["message"] = fault.message;
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
