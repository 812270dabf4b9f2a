#include "api/member_query.hpp"

#include "base/faults.hpp"
#include "rules/members/core_field_checks.hpp"
#include "service/imports/members.hpp"

namespace muster::api {

service::MemberFilter member_filter_of(const Call& call) {
    service::MemberFilter filter{call.query.text("email"), call.query.text("external_id"),
                                 call.query.text("q"), call.query.timestamp("updated_since"),
                                 call.query.text("status")};
    Faults faults;
    filter.country = call.query.text("country");
    if (filter.country) {
        const auto fault = rules::normalize_country(*filter.country);
        if (fault) faults.add("country", *fault);
    }
    const auto attributes = call.query.map("attribute");
    if (!attributes.empty()) {
        filter.attributes = service::attribute_conditions(call.context, call.org(), attributes,
                                                          "attribute.", faults);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    const auto job = call.query.id<ImportId>("imported_by");
    if (job) filter.source = service::members_of_import(*job);
    return filter;
}

}  // namespace muster::api
