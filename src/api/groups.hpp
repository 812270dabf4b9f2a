// The tables of endpoint rows and their tags, listed in groups.cpp.
#pragma once

#include "api/answers.hpp"

#include <span>

namespace muster::api {

// A tag of the OpenAPI document.
struct Tag {
    std::string_view name;
    std::string_view description;
};
std::span<const Tag> all_tags();

struct Group {
    std::string_view tag;
    std::span<const Endpoint> (*endpoints)();
};
// In the order in which paths are matched.
std::span<const Group> all_groups();

std::span<const Endpoint> about_endpoints();                // operations/about.cpp
std::span<const Endpoint> ad_campaign_endpoints();          // ads/campaigns.cpp
std::span<const Endpoint> ad_creative_endpoints();          // ads/creatives.cpp
std::span<const Endpoint> ad_endpoints();                   // ads/serve.cpp
std::span<const Endpoint> ad_figures_endpoints();           // ads/figures.cpp
std::span<const Endpoint> ad_slot_endpoints();              // ads/slots.cpp
std::span<const Endpoint> api_key_endpoints();              // access/api_keys.cpp
std::span<const Endpoint> article_endpoints();              // content/articles.cpp
std::span<const Endpoint> attribute_endpoints();            // attributes.cpp
std::span<const Endpoint> audit_log_endpoints();            // access/audit_log.cpp
std::span<const Endpoint> content_endpoints();              // content/published.cpp
std::span<const Endpoint> content_key_endpoints();          // pages/content_keys.cpp
std::span<const Endpoint> engagement_event_endpoints();     // engagement/events.cpp
std::span<const Endpoint> external_data_endpoints();        // connections.cpp
std::span<const Endpoint> health_endpoints();               // operations/health.cpp
std::span<const Endpoint> import_endpoints();               // imports/jobs.cpp
std::span<const Endpoint> import_row_endpoints();           // imports/rows.cpp
std::span<const Endpoint> ingest_endpoints();               // engagement/ingest.cpp
std::span<const Endpoint> installation_endpoints();         // modules/installations.cpp
std::span<const Endpoint> invitation_endpoints();           // access/seats.cpp
std::span<const Endpoint> module_credential_endpoints();    // modules/credentials.cpp
std::span<const Endpoint> module_config_endpoints();        // modules/config.cpp
std::span<const Endpoint> module_endpoints();               // modules/modules.cpp
std::span<const Endpoint> openapi_endpoints();              // openapi.cpp
std::span<const Endpoint> organization_endpoints();         // organization/usage.cpp
std::span<const Endpoint> organization_event_endpoints();   // engagement/organization_events.cpp
std::span<const Endpoint> organization_record_endpoints();  // organization/organization.cpp
std::span<const Endpoint> own_factor_endpoints();           // access/own_factor.cpp
std::span<const Endpoint> seat_endpoints();                 // access/seats.cpp
std::span<const Endpoint> own_seat_endpoints();
std::span<const Endpoint> session_endpoints();               // access/session.cpp
std::span<const Endpoint> sign_in_endpoints();               // access/sign_in.cpp
std::span<const Endpoint> track_endpoints();                 // engagement/track.cpp
std::span<const Endpoint> tracking_key_endpoints();          // pages/tracking_keys.cpp
std::span<const Endpoint> two_factor_endpoints();            // access/sign_in.cpp
std::span<const Endpoint> user_endpoints();                  // members.cpp
std::span<const Endpoint> member_job_endpoints();            // member_jobs.cpp
std::span<const Endpoint> all_webhook_delivery_endpoints();  // webhooks/deliveries.cpp
std::span<const Endpoint> webhook_delivery_endpoints();      // webhooks/deliveries.cpp
std::span<const Endpoint> webhook_endpoint_endpoints();      // webhooks/endpoints.cpp

}  // namespace muster::api
