#include "api/groups.hpp"

#include <array>

namespace muster::api {
namespace {

constexpr std::array kTags = {
    Tag{"Members", "People of an organization: create, search, change, lock and remove them."},
    Tag{"Attributes", "The registry of an organization's own member fields."},
    Tag{"Imports", "Bulk import of members from a file: stage, validate, commit."},
    Tag{"Sign-in", "Admin sign-in: a code by mail, then a second factor."},
    Tag{"Sessions", "The session of the signed-in admin."},
    Tag{"Team", "The organization's admins: invite them, change their roles, remove them."},
    Tag{"API keys", "Keys that programs use to act for the organization."},
    Tag{"Modules", "Modules, their versions, installations and credentials."},
    Tag{"Webhooks", "Endpoints of an installation and the deliveries to them."},
    Tag{"Engagement", "Events of members and visitors, tracked by pages or ingested by modules."},
    Tag{"Ads", "Ads on the organization's pages: slots, campaigns, creatives, serving."},
    Tag{"Content", "Articles for the organization's sites and the keys to read them."},
    Tag{"Connections", "Connections to third-party providers."},
    Tag{"Organization",
        "The organization: its name, its numbers, its limits and what it uses of them."},
    Tag{"Audit log", "Actions of admins, the operator and Muster itself."},
    Tag{"Operations", "The OpenAPI document, probes and metrics of the service."},
};

constexpr std::array kGroups = {
    Group{"Ads", ad_endpoints},
    Group{"Ads", ad_slot_endpoints},
    Group{"Ads", ad_campaign_endpoints},
    Group{"Ads", ad_creative_endpoints},
    Group{"Ads", ad_figures_endpoints},
    Group{"API keys", api_key_endpoints},
    Group{"Content", article_endpoints},
    Group{"Attributes", attribute_endpoints},
    Group{"Audit log", audit_log_endpoints},
    Group{"Content", content_endpoints},
    Group{"Content", content_key_endpoints},
    Group{"Engagement", engagement_event_endpoints},
    Group{"Engagement", organization_event_endpoints},
    Group{"Connections", external_data_endpoints},
    Group{"Imports", import_endpoints},
    Group{"Imports", import_row_endpoints},
    Group{"Engagement", ingest_endpoints},
    Group{"Modules", installation_endpoints},
    Group{"Modules", module_config_endpoints},
    Group{"Modules", module_endpoints},
    Group{"Modules", module_credential_endpoints},
    Group{"Organization", organization_endpoints},
    Group{"Organization", organization_record_endpoints},
    Group{"Team", seat_endpoints},
    Group{"Team", invitation_endpoints},
    Group{"Sessions", session_endpoints},
    Group{"Sessions", own_seat_endpoints},
    Group{"Sign-in", sign_in_endpoints},
    Group{"Engagement", track_endpoints},
    Group{"Engagement", tracking_key_endpoints},
    Group{"Sign-in", two_factor_endpoints},
    Group{"Sign-in", own_factor_endpoints},
    Group{"Members", user_endpoints},
    Group{"Members", member_job_endpoints},
    Group{"Webhooks", webhook_endpoint_endpoints},
    Group{"Webhooks", webhook_delivery_endpoints},
    Group{"Webhooks", all_webhook_delivery_endpoints},
    Group{"Operations", about_endpoints},
    Group{"Operations", openapi_endpoints},
    Group{"Operations", health_endpoints},
};

constexpr bool names_a_tag(const Group& group) {
    for (const Tag& tag : kTags) {
        if (tag.name == group.tag) return true;
    }
    return false;
}
constexpr bool all_name_a_tag() {
    for (const Group& group : kGroups) {
        if (!names_a_tag(group)) return false;
    }
    return true;
}
static_assert(all_name_a_tag());

}  // namespace

std::span<const Tag> all_tags() {
    return kTags;
}

std::span<const Group> all_groups() {
    return kGroups;
}

}  // namespace muster::api
