// Serves /console/v1/ads/slots…: ad slots on an organization's pages (docs/ads.md "Ads").
#include "service/ads/slots.hpp"

#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Integer;
using json::Text;
using rules::AdSlot;
using service::AdSlotChange;
using service::NewAdSlot;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr json::Slug kSlotSlug{
    .is_one = rules::is_slot_slug,
    .pattern = "^[a-z][a-z0-9-]{1,62}$",
    .meaning = "2 to 63 lower-case letters, digits and hyphens, beginning with a letter",
    .max = 63};

constexpr Integer kSlotSide{1, rules::kLargestSide};

constexpr auto kNewSlot = json::object<NewAdSlot>(
    json::required("slug", &NewAdSlot::slug, kSlotSlug,
                   "Short name that pages use, unique in the organization.", "home-top"),
    json::required("name", &NewAdSlot::name, Text{1, 255}, "Name for people.",
                   "Top of the home page"),
    json::required("width", &NewAdSlot::width, kSlotSide, "Width in pixels."),
    json::required("height", &NewAdSlot::height, kSlotSide, "Height in pixels."));

constexpr auto kSlotChange = json::object<AdSlotChange>(
    json::changeable(
        "slug", &AdSlotChange::slug, kSlotSlug,
        "Short name that pages use, unique in the organization. If omitted, not changed.",
        "home-top"),
    json::changeable("name", &AdSlotChange::name, Text{1, 255},
                     "Name for people. If omitted, not changed.", "Top of the home page"),
    json::changeable("width", &AdSlotChange::width, kSlotSide,
                     "Width in pixels. If omitted, not changed."),
    json::changeable("height", &AdSlotChange::height, kSlotSide,
                     "Height in pixels. If omitted, not changed."));

// ---------------------------------------------------------------------------- replies

constexpr auto kSlot =
    record<AdSlot>("AdSlot", field<&AdSlot::id>("id", "Id of the record."),
                   field<&AdSlot::organization_id>(
                       "organization_id", "Id of the organization that the record belongs to."),
                   field<&AdSlot::slug>("slug", "Short name that pages use.", "home-top"),
                   field<&AdSlot::name>("name", "Name for people.", "Top of the home page"),
                   field<&AdSlot::width>("width", "Width in pixels."),
                   field<&AdSlot::height>("height", "Height in pixels."),
                   field<&AdSlot::created_at>("created_at", "Time when the record was created."),
                   field<&AdSlot::updated_at>("updated_at", "Time of the last change."));

constexpr auto kSlotList = list_of<kSlot>("AdSlotList", "slots");

// ---------------------------------------------------------------------------- handlers

auto list_slots(Call& call) {
    auto slots = service::list_ad_slots(call.context, call.org(), call.cursor_id<SlotId>(),
                                        call.query.integer("limit") + 1);
    return page_of(call, std::move(slots));
}

auto create_slot(Call&, OrgTransaction& transaction, const NewAdSlot& in) {
    auto slot = service::create_ad_slot(transaction, in);
    std::string location = "/console/v1/ads/slots/" + slot.id.text();
    return Answer{std::move(slot), std::move(location)};
}

auto get_slot(Call& call) {
    return service::read_ad_slot(call.context, call.org(), call.id<SlotId>());
}

auto change_slot(Call& call, OrgTransaction& transaction, const AdSlotChange& in) {
    const auto id = call.id<SlotId>();
    return service::change_ad_slot(transaction, id, in, version_check(call));
}

void delete_slot(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<SlotId>();
    service::delete_ad_slot(transaction, id, version_check(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kSlotListQuery = {page_limit(), kPageCursor};
constexpr std::array kSlotCreateErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kSlotChangeErrors = {ErrorCode::Conflict};
constexpr std::array kDeleteErrors = {ErrorCode::InvalidState};

constexpr std::array kSlotEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/slots",
             .operation = "listAdSlots",
             .summary = "List the organization's ad slots",
             .description = "Lists the ad slots of the organization. The list is paged by cursor.",
             .access = Access::Console,
             .query = kSlotListQuery,
             .reply = {200, "A page of slots."},
             .handler = answers<kSlotList, list_slots>,
             .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/ads/slots",
        .operation = "createAdSlot",
        .summary = "Create an ad slot",
        .description =
            "Creates a slot: an area of fixed size on the organization's pages. Pages request its "
            "ad by slug. The slug is unique in the organization (409 CONFLICT). Repeat safely "
            "with an Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewAdSlot",
        .body_schema = schema_of<kNewSlot>,
        .body_example =
            R"({"slug": "top-banner", "name": "Top banner", "width": 728, "height": 90})",
        .reply = with_version({201, "The slot."}),
        .errors = kSlotCreateErrors,
        .handler = decoded<kNewSlot, answers<kSlot, create_slot>>,
        .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/slots/{slotId}",
             .operation = "getAdSlot",
             .summary = "Get an ad slot",
             .description = "Returns one ad slot. Pages name it by its slug.",
             .access = Access::Console,
             .reply = with_version({200, "The slot."}),
             .handler = answers<kSlot, get_slot>,
             .is_published = false},
    Endpoint{
        .method = Method::Patch,
        .path = "/console/v1/ads/slots/{slotId}",
        .operation = "updateAdSlot",
        .summary = "Change an ad slot",
        .description =
            "Changes the fields that are sent and keeps the others. Pages that use the old slug "
            "get no ad after the slug changes.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "AdSlotChange",
        .body_schema = schema_of<kSlotChange>,
        .body_example = R"({"name": "Banner at the top"})",
        .reply = with_version({200, "The slot as it is now."}),
        .errors = kSlotChangeErrors,
        .handler = decoded<kSlotChange, answers<kSlot, change_slot>>,
        .is_published = false},
    Endpoint{.method = Method::Delete,
             .path = "/console/v1/ads/slots/{slotId}",
             .operation = "deleteAdSlot",
             .summary = "Delete an unused ad slot",
             .description =
                 "Deletes a slot. While an active or paused campaign uses it, the reply is 409 "
                 "INVALID_STATE; remove the slot from the campaign first.",
             .access = Access::Console,
             .role = rules::Role::Admin,
             .takes_if_match = true,
             .reply = {204, "Deleted."},
             .errors = kDeleteErrors,
             .handler = answers_nothing<delete_slot>,
             .is_published = false},
};
static_assert(well_formed(kSlotEndpoints, "/console/v1/ads/slots"));

}  // namespace

std::span<const Endpoint> ad_slot_endpoints() {
    return kSlotEndpoints;
}

}  // namespace muster::api
