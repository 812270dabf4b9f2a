// musterctl provider.
#include "rules/connections/providers.hpp"
#include "base/settings.hpp"

#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/connections/oauth.hpp"
#include "service/connections/provider_client.hpp"

namespace muster::ctl {
namespace {

using rules::Provider;
using service::ProviderCheck;
using service::ProviderVerdict;

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

std::string answer_cell(const ProviderCheck& check) {
    // The texts about a failure name the code.
    const std::string code = " (" + check.code + ")";
    const bool has_code = check.code.empty() || check.text.find(code) != std::string::npos;
    return has_code ? check.text : check.text + code;
}

Result checked(const Invocation& in, std::span<const Provider* const> providers) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"PROVIDER", "RESULT", "ANSWER", "URL"});
    for (const Provider* provider : providers) {
        const ProviderCheck check = service::check_provider(in.context.settings, *provider);
        result.json.append(check_json(*provider, check));
        table.add({std::string(provider->id), std::string(text_of(check.verdict)),
                   answer_cell(check), check.url});
        if (check.verdict == ProviderVerdict::Failed) result.status = 1;
    }
    result.text = providers.empty() ? "no provider is ready; `musterctl provider list` shows what "
                                      "each one lacks\n"
                                    : table.text();
    return result;
}

const Provider& provider_option(const Invocation& in) {
    const std::string& id = in.required("--provider");
    const Provider* provider = rules::find_provider(id);
    if (provider == nullptr) {
        throw invalid_value("--provider", id, "an id of `musterctl provider list`");
    }
    const std::string reason = rules::missing_settings(*provider, in.context.settings.providers);
    if (!reason.empty()) throw CommandError(reason);
    return *provider;
}

}  // namespace

Result list_providers(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"PROVIDER", "STATE", "NAME", "MISSING"});
    for (const Provider& provider : rules::providers()) {
        const std::string reason = rules::missing_settings(provider, in.context.settings.providers);
        Json::Value json;
        json["id"] = std::string(provider.id);
        json["name"] = std::string(provider.name);
        json["ready"] = reason.empty();
        json["reason"] = reason;
        result.json.append(std::move(json));
        table.add({std::string(provider.id), reason.empty() ? "ready" : "not ready",
                   std::string(provider.name), reason});
    }
    result.text = table.text();
    return result;
}

Result check_providers(const Invocation& in) {
    std::vector<const Provider*> ready;
    if (in.flag("--provider")) {
        ready.push_back(&provider_option(in));
        return checked(in, ready);
    }
    for (const Provider& provider : rules::providers()) {
        if (rules::missing_settings(provider, in.context.settings.providers).empty()) {
            ready.push_back(&provider);
        }
    }
    return checked(in, ready);
}

}  // namespace muster::ctl
