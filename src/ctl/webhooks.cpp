// musterctl webhook.
#include "base/error.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "service/webhooks/deliveries.hpp"
#include "service/webhooks/disabling.hpp"
#include "service/webhooks/endpoints.hpp"

namespace muster::ctl {
namespace {

using service::EndpointHealth;

Json::Value health_json(const EndpointHealth& health) {
    const rules::WebhookEndpoint& endpoint = health.endpoint;
    Json::Value json;
    json["id"] = endpoint.id.text();
    json["module_installation_id"] = endpoint.module_installation_id.text();
    json["url"] = std::string(service::url_without_query(endpoint.url));
    json["status"] = std::string(text_of(endpoint.status));
    json["disabled_reason"] =
        endpoint.disabled_reason ? Json::Value(*endpoint.disabled_reason) : Json::Value();
    json["failing_since"] =
        endpoint.failing_since ? Json::Value(endpoint.failing_since->text()) : Json::Value();
    json["backlog_dropped_at"] = endpoint.backlog_dropped_at
                                     ? Json::Value(endpoint.backlog_dropped_at->text())
                                     : Json::Value();
    json["pending"] = Json::Int64(health.pending);
    json["failed"] = Json::Int64(health.failed);
    return json;
}

std::vector<std::string> cells_of(const EndpointHealth& health) {
    const rules::WebhookEndpoint& endpoint = health.endpoint;
    std::string status(text_of(endpoint.status));
    if (endpoint.disabled_reason) status += " (" + *endpoint.disabled_reason + ")";
    return {endpoint.id.text(),
            status,
            time_cell(endpoint.failing_since, "-"),
            time_cell(endpoint.backlog_dropped_at, "-"),
            std::to_string(health.pending),
            std::to_string(health.failed),
            std::string(service::url_without_query(endpoint.url))};
}

// Queues all deliveries since that time, in short transactions; returns their number.
std::int64_t recover_all(const Invocation& in, OrgId organization, EndpointId endpoint,
                         Timestamp since) {
    std::int64_t queued = 0;
    try {
        for (bool has_more = true; has_more;) {
            const auto piece =
                service::recover_deliveries(in.context, organization, endpoint, since);
            queued += piece.queued;
            has_more = piece.has_more;
        }
    } catch (Error& error) {
        // With --json programs read its code.
        if (in.flag("--json")) {
            if (queued > 0) error.detail("queued", Json::Int64(queued));
            throw;
        }
        if (error.code() == ErrorCode::InvalidState && queued > 0) {
            throw CommandError(std::to_string(queued) + " queued, and not the others: " +
                               error.details()["reason"].asString());
        }
        if (error.code() != ErrorCode::NotFound) throw;
        throw CommandError("the organization has no webhook endpoint " + endpoint.text());
    }
    return queued;
}

}  // namespace

Result list_webhooks(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "STATUS", "FAILING SINCE", "DROPPED", "PENDING", "FAILED", "URL"});
    for (const auto& health : service::list_endpoint_health(in.context, in.organization())) {
        result.json.append(health_json(health));
        table.add(cells_of(health));
    }
    result.text = table.text();
    return result;
}

Result recover_webhooks(const Invocation& in) {
    const auto endpoint = EndpointId::parse(in.required("--endpoint"));
    if (!endpoint)
        throw invalid_value("--endpoint", in.required("--endpoint"),
                            "an id of `musterctl webhook list`");
    const auto since = Timestamp::parse(in.required("--since"));
    if (!since || *since > Timestamp::now()) {
        throw invalid_value("--since", in.required("--since"),
                            "a past time such as 2026-11-20T10:00:00Z");
    }
    const std::int64_t queued = recover_all(in, in.organization(), *endpoint, *since);
    Result result;
    result.json["queued"] = Json::Int64(queued);
    result.text = std::to_string(queued) + " queued\n";
    return result;
}

}  // namespace muster::ctl
