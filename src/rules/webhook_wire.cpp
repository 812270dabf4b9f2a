#include "rules/webhook_wire.hpp"

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::rules {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::size_t kSecretBytes = 32;

}  // namespace

std::string webhook_id(const WebhookEventId& event) {
    return "msg_" + to_hex(event.bytes());
}

std::string webhook_timestamp(Timestamp attempted_at) {
    return std::to_string(attempted_at.milliseconds() / 1000);
}

Secret create_endpoint_secret() {
    std::string key(kSecretBytes, '\0');
    random_bytes(key.data(), key.size());
    return Secret(std::string(kSecretPrefix) + to_base64(key));
}

std::string webhook_signatures(std::string_view webhook_id, Timestamp attempted_at,
                               std::string_view body, std::span<const Secret> secrets) {
    std::string content(webhook_id);
    content.append(".").append(webhook_timestamp(attempted_at)).append(".");
    content.append(body);
    std::string header;
    for (const Secret& secret : secrets) {
        const std::string_view text = secret.reveal();
        const auto key = text.starts_with(kSecretPrefix)
                             ? from_base64(text.substr(kSecretPrefix.size()))
                             : std::nullopt;
        if (!key) throw std::invalid_argument("not a webhook endpoint's secret");
        if (!header.empty()) header += ' ';
        header.append("v1,").append(to_base64(hmac_sha256(*key, content)));
    }
    return header;
}

std::string webhook_body(std::string_view type, Timestamp when, std::string_view data) {
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.key("type");
    json.string(type);
    json.key("timestamp");
    json.string(when.text());
    json.key("data");
    json.raw(data);
    json.end_object();
    return body;
}

std::string joined_types(std::vector<std::string> types) {
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    std::string joined;
    for (const std::string& type : types) {
        if (!joined.empty()) joined += ' ';
        joined += type;
    }
    return joined;
}

}  // namespace muster::rules
