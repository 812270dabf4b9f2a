// The tables of endpoint rows, one for each first path word, and the tag of each: groups.cpp lists
// them.
#pragma once

#include "api/answers.hpp"

#include <span>

namespace muster::api {

// What a reader of the description finds operations by.
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

std::span<const Endpoint> ad_campaign_endpoints();        // ad_campaigns.cpp
std::span<const Endpoint> ad_creative_endpoints();        // ad_creatives.cpp
std::span<const Endpoint> ad_endpoints();                 // ads.cpp
std::span<const Endpoint> ad_slot_endpoints();            // ad_slots.cpp
std::span<const Endpoint> api_key_endpoints();            // api_keys.cpp
std::span<const Endpoint> article_endpoints();            // articles.cpp
std::span<const Endpoint> attribute_endpoints();          // attributes.cpp
std::span<const Endpoint> audit_log_endpoints();          // audit_log.cpp
std::span<const Endpoint> content_endpoints();            // content.cpp
std::span<const Endpoint> content_key_endpoints();        // content_keys.cpp
std::span<const Endpoint> edge_endpoints();               // edge.cpp
std::span<const Endpoint> engagement_event_endpoints();   // engagement_events.cpp
std::span<const Endpoint> external_data_endpoints();      // external_data.cpp
std::span<const Endpoint> health_endpoints();             // health.cpp
std::span<const Endpoint> import_endpoints();             // imports.cpp
std::span<const Endpoint> ingest_endpoints();             // ingest.cpp
std::span<const Endpoint> installation_endpoints();       // installations.cpp
std::span<const Endpoint> module_credential_endpoints();  // module_credentials.cpp
std::span<const Endpoint> module_endpoints();             // modules.cpp
std::span<const Endpoint> openapi_endpoints();            // openapi.cpp
std::span<const Endpoint> session_endpoints();            // session.cpp
std::span<const Endpoint> sign_in_endpoints();            // auth.cpp
std::span<const Endpoint> track_endpoints();              // track.cpp
std::span<const Endpoint> tracking_key_endpoints();       // tracking_keys.cpp
std::span<const Endpoint> two_factor_endpoints();         // auth.cpp
std::span<const Endpoint> user_endpoints();               // users.cpp
std::span<const Endpoint> webhook_delivery_endpoints();   // webhook_deliveries.cpp
std::span<const Endpoint> webhook_endpoint_endpoints();   // webhook_endpoints.cpp

}  // namespace muster::api
