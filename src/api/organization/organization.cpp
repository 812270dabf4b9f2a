// Serves /v1/organization: its record, its name, and its numbers (docs/api/organization.md).
#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "http/etag.hpp"
#include "rules/access/organizations.hpp"
#include "rules/access/roles.hpp"
#include "rules/organization/summary_record.hpp"
#include "service/access/organizations.hpp"
#include "service/organization/summary.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Text;
using rules::Organization;
using service::OrgTransaction;

struct OrganizationChange {
    std::string name;
};
constexpr auto kOrganizationPatch = json::object<OrganizationChange>(
    json::required("name", &OrganizationChange::name, Text{1, rules::kLongestOrganizationName},
                   "Name for people. It need not be unique.", "Riverside Rowing Club"));

constexpr auto kOrganizationRecord = record<Organization>(
    "Organization", field<&Organization::id>("id", "Id of the organization."),
    field<&Organization::name>("name", "Name for people.", "Riverside Rowing Club"),
    field<&Organization::created_at>("created_at", "Time when the organization was created."));

auto get_organization(Call& call) {
    return service::find_organization(call.context, call.org());
}

auto update_organization(Call& call, OrgTransaction& transaction, const OrganizationChange& in) {
    return service::rename_organization(transaction, in.name, [&](const Organization& before) {
        check_condition(call, http::etag_of(to_json(kOrganizationRecord, before)));
    });
}

auto get_summary(Call& call) {
    return service::summarize_organization(call.context, call.org());
}

constexpr std::array kOrganizationErrors = {ErrorCode::PreconditionFailed};

constexpr std::array kOrganizationRecordEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/organization",
             .operation = "getOrganization",
             .summary = "Get the organization",
             .description =
                 "Returns the organization on which the caller acts: of an API key its own, of a "
                 "session the active one or that of X-Organization. Send the ETag as If-Match with "
                 "updateOrganization to avoid overwriting another change.",
             .reply = with_tag({200, "The organization, with its ETag."}),
             .handler = answers<kOrganizationRecord, get_organization>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/organization",
        .operation = "updateOrganization",
        .summary = "Rename the organization",
        .description =
            "Changes the name, as an owner. The name need not be unique. With If-Match, the change "
            "is made only if the record is unchanged; otherwise the reply is 412.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "OrganizationPatch",
        .body_schema = schema_of<kOrganizationPatch>,
        .body_example = R"({"name": "Riverside Rowing Club"})",
        .reply = with_tag({200, "The organization as it is now, with its ETag."}),
        .errors = kOrganizationErrors,
        .handler = decoded<kOrganizationPatch, answers<kOrganizationRecord, update_organization>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/organization/summary",
        .operation = "getOrganizationSummary",
        .summary = "Get the organization in numbers",
        .description =
            "Returns what the organization has: members by status and recent changes, the active "
            "import, seats and invitations, enabled attributes, valid keys and those that expire "
            "soon, webhook endpoints, connections and articles by status, "
            "and the ads of seven days. Members are counted up to 10,000; exact is false if "
            "there are more. The cost does not depend on the number of members.",
        .reply = {200, "The numbers."},
        .handler = answers<rules::kOrganizationSummary, get_summary>},
};
static_assert(well_formed(kOrganizationRecordEndpoints, "/v1/organization"));

}  // namespace

std::span<const Endpoint> organization_record_endpoints() {
    return kOrganizationRecordEndpoints;
}

}  // namespace muster::api
