// Serves /console/v1/content-keys…: publishable keys that sites use to read articles
// (docs/engagement.md "Publishable keys").
#include "api/pages/publishable_keys.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using http::Method;

constexpr auto kContentKeyKind = PublishableKeyKind::Content;
constexpr auto kContentKey = publishable_key_record("ContentKey");

constexpr auto kContentKeyList = list_of<kContentKey>("ContentKeyList", "keys");

constexpr std::array kContentKeyEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/console/v1/content-keys",
             .operation = "listContentKeys",
             .summary = "List the organization's content keys",
             .description =
                 "Lists the content keys of the organization, the oldest first. Revoked keys are "
                 "listed for 30 days.",
             .access = Access::Console,
             .query = kPublishableKeyListQuery,
             .reply = {200, "A page of keys."},
             .handler = answers<kContentKeyList, list_publishable_keys<kContentKeyKind>>,
             .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/content-keys",
        .operation = "createContentKey",
        .summary = "Issue a content key",
        .description =
            "Issues a content key, which sites use to read published articles. It works on pages "
            "of its allowed_origins only. The key is public; every reply contains it. "
            "Repeat safely with an Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewContentKey",
        .body_schema = schema_of<kNewPublishableKey>,
        .body_example = R"({"name": "blog", "allowed_origins": ["https://blog.example"]})",
        .reply = {201, "The key."},
        .errors = kPublishableKeyCreateErrors,
        .handler = decoded<kNewPublishableKey,
                           answers<kContentKey, create_publishable_key<kContentKeyKind>>>,
        .changes_access = true,
        .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/content-keys/{id}",
             .operation = "getContentKey",
             .summary = "Get a content key",
             .description = "Returns one content key. A revoked key is 404 after 30 days.",
             .access = Access::Console,
             .reply = {200, "The key."},
             .handler = answers<kContentKey, get_publishable_key<kContentKeyKind>>,
             .is_published = false},
    Endpoint{
        .method = Method::Patch,
        .path = "/console/v1/content-keys/{id}",
        .operation = "updateContentKey",
        .summary = "Change a content key",
        .description =
            "Changes the fields that are sent and keeps the others. The change takes effect with the "
            "next request. A new origin or a later end needs a second factor of the last 15 "
            "minutes. A revoked key is 409 INVALID_STATE.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "ContentKeyChange",
        .body_schema = schema_of<kPublishableKeyChange>,
        .body_example = R"({"allowed_origins": ["https://*.blog.example"]})",
        .reply = {200, "The key."},
        .errors = kPublishableKeyChangeErrors,
        .handler = decoded<kPublishableKeyChange,
                           answers<kContentKey, change_publishable_key<kContentKeyKind>>>,
        .is_published = false},
    Endpoint{
        .method = Method::Delete,
        .path = "/console/v1/content-keys/{id}",
        .operation = "revokeContentKey",
        .summary = "Revoke a content key",
        .description =
            "Revokes a content key permanently. The next request with it is 401. The call can be "
            "repeated for 30 days; then it is 404.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .reply = {204, "Revoked."},
        .handler = answers_nothing<revoke_publishable_key<kContentKeyKind>>,
        .is_published = false},
};
static_assert(well_formed(kContentKeyEndpoints, "/console/v1/content-keys"));

}  // namespace

std::span<const Endpoint> content_key_endpoints() {
    return kContentKeyEndpoints;
}

}  // namespace muster::api
