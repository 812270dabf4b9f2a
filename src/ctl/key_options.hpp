// Shared by the commands for all kinds of keys: options, and the output for a key.
#pragma once

#include "base/text.hpp"
#include "base/time.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/credentials.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::ctl {

inline Json::Value time_json(const std::optional<Timestamp>& when) {
    return when ? Json::Value(when->text()) : Json::Value();
}

inline Json::Value number_json(const std::optional<std::int64_t>& value) {
    return value ? Json::Value(Json::Int64(*value)) : Json::Value();
}

// nullopt without the option. Throws UsageError for an invalid rate.
inline std::optional<std::int64_t> rate_option(const Invocation& in, std::string_view option) {
    const std::string text = in.optional(option);
    if (text.empty()) return std::nullopt;
    const auto number = parse_number<std::int64_t>(text);
    if (!number || *number < 1 || *number > service::kHighestRate) {
        throw invalid_value(option, text,
                            "a number from 1 to " + std::to_string(service::kHighestRate));
    }
    return number;
}

// --expires, or nullopt without it. Throws UsageError unless it is a future time.
inline std::optional<Timestamp> expiry_option(const Invocation& in) {
    const std::string text = in.optional("--expires");
    if (text.empty()) return std::nullopt;
    const auto expires_at = Timestamp::parse(text);
    if (!expires_at && Date::parse(text)) {
        throw invalid_value("--expires", text,
                            "a date with a time and a time zone: " + text + "T00:00:00Z");
    }
    if (!expires_at) {
        throw invalid_value("--expires", text,
                            "YYYY-MM-DDThh:mm:ssZ, a UTC time, or an offset such as +02:00 for Z");
    }
    if (*expires_at <= Timestamp::now()) throw invalid_value("--expires", text, "a future time");
    return expires_at;
}

template <class Key>
std::string state_of(const Key& key) {
    if (key.revoked_at) return "revoked";
    return service::is_expired_or_revoked(key, Timestamp::now()) ? "expired" : "active";
}

template <class Id>
CommandError no_active_key(const Id& id) {
    return CommandError("the organization has no active key with the id " + id.text());
}

// `shown`: the key as a list shows it.
inline std::string revoke_question(const std::string& shown, const std::string& name) {
    return "Revoke the key " + shown + " \"" + printable(name) +
           "\"? Requests with it are refused from the next one on.";
}

inline Result revoked(const std::string& id) {
    Result result;
    result.json["id"] = id;
    result.json["revoked"] = true;
    result.text = "revoked\n";
    return result;
}

}  // namespace muster::ctl
