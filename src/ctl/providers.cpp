// musterctl provider.
#include "rules/connections/providers.hpp"
#include "base/settings.hpp"

#include "ctl/command.hpp"
#include "rules/connections/oauth.hpp"
#include "service/connections/provider_client.hpp"

namespace muster::ctl {
namespace {

using rules::Provider;
using service::ProviderCheck;
using service::ProviderVerdict;

// Up to the place where the next column begins.
std::string column(std::string_view text, std::size_t width) {
    std::string padded(text);
    padded.append(text.size() < width ? width - text.size() : 0, ' ');
    return padded + "  ";
}

std::string line_of(const Provider& provider, std::string_view state, std::string_view text) {
    constexpr std::size_t kIds = 16;    // google_analytics
    constexpr std::size_t kStates = 9;  // undecided, not ready
    std::string line = column(provider.id, kIds) + column(state, kStates);
    return line.append(text).append("\n");
}

Json::Value check_json(const Provider& provider, const ProviderCheck& check) {
    Json::Value json;
    json["id"] = std::string(provider.id);
    json["verdict"] = std::string(text_of(check.verdict));
    json["url"] = check.url.empty() ? Json::Value() : Json::Value(check.url);
    json["status"] = check.status == 0 ? Json::Value() : Json::Value(check.status);
    json["code"] = check.code.empty() ? Json::Value() : Json::Value(check.code);
    json["text"] = check.text;
    return json;
}

std::string check_line(const Provider& provider, const ProviderCheck& check) {
    std::string text = check.text;
    // The texts about a failure have it already.
    const std::string code = " (" + check.code + ")";
    if (!check.code.empty() && text.find(code) == std::string::npos) text += code;
    if (!check.url.empty()) text += "  " + check.url;
    return line_of(provider, text_of(check.verdict), text);
}

void add_check(const Invocation& in, const Provider& provider, Result& result) {
    const ProviderCheck check = service::check_provider(in.context.settings, provider);
    result.json.append(check_json(provider, check));
    result.text += check_line(provider, check);
    if (check.verdict == ProviderVerdict::Failed) result.status = 1;
}

}  // namespace

Result list_providers(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const Provider& provider : rules::providers()) {
        const std::string reason = rules::missing_settings(provider, in.context.settings.providers);
        Json::Value json;
        json["id"] = std::string(provider.id);
        json["name"] = std::string(provider.name);
        json["ready"] = reason.empty();
        json["reason"] = reason;
        result.json.append(std::move(json));
        std::string text(provider.name);
        if (!reason.empty()) text += ": " + reason;
        result.text += line_of(provider, reason.empty() ? "ready" : "not ready", text);
    }
    return result;
}

Result check_providers(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    if (const std::string id = in.optional("--provider"); !id.empty()) {
        const Provider* provider = rules::find_provider(id);
        if (provider == nullptr) {
            throw invalid_value("--provider", id, "an id of `musterctl provider list`");
        }
        const std::string reason =
            rules::missing_settings(*provider, in.context.settings.providers);
        if (!reason.empty()) throw CommandError(reason);
        add_check(in, *provider, result);
        return result;
    }
    for (const Provider& provider : rules::providers()) {
        const bool is_ready =
            rules::missing_settings(provider, in.context.settings.providers).empty();
        if (is_ready) add_check(in, provider, result);
    }
    if (result.text.empty()) result.text = "no provider is ready (musterctl provider list)\n";
    return result;
}

}  // namespace muster::ctl
