// The filters of GET /v1/users and of its export, as parameters of a query.
#pragma once

#include "api/endpoint.hpp"
#include "rules/members/status.hpp"
#include "service/members/filter.hpp"

namespace muster::api {

// The filter of the query, without an order. Throws VALIDATION_ERROR with all faults of the country
// and the attributes.
service::MemberFilter member_filter_of(const Call& call);

inline constexpr QueryParameter kEmailFilter{
    .name = "email",
    .kind = QueryParameter::Kind::Email,
    .least = 1,
    .meaning = "Only the user with this address, ignoring case."};
inline constexpr QueryParameter kExternalIdFilter{
    .name = "external_id", .least = 1, .meaning = "Only users with exactly this external_id."};
inline constexpr QueryParameter kStatusFilter{.name = "status",
                                              .choice = name_at<rules::MemberStatus>,
                                              .meaning = "Only users in this status."};
inline constexpr QueryParameter kPrefixFilter{
    .name = "q",
    .least = 1,
    .is_prefix = true,
    .meaning =
        "Only users whose email, last_name, or display_name (or else first_name "
        "and last_name) begins with this text, ignoring case and accents; "
        "ordered by the matching text."};
inline constexpr QueryParameter kSinceFilter{
    .name = "updated_since",
    .kind = QueryParameter::Kind::Timestamp,
    .meaning =
        "Only users that changed at this time or later; ordered by "
        "updated_at, unless q is given."};

inline constexpr QueryParameter kCountryFilter{
    .name = "country",
    .least = 1,
    .meaning = "Only users with this country: two letters of ISO 3166-1, ignoring case."};
inline constexpr QueryParameter kAttributeFilter{
    .name = "attribute",
    .kind = QueryParameter::Kind::Map,
    .meaning =
        "attribute.KEY=VALUE: only users whose attribute has this value; of a multi_choice, one of "
        "the choices. Up to 5 attributes."};
inline constexpr QueryParameter kImportFilter{
    .name = "imported_by",
    .kind = QueryParameter::Kind::Uuid,
    .meaning =
        "Only users that this import job created or attached, in the order of its rows; "
        "until the job is deleted."};

}  // namespace muster::api
