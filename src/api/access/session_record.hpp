// The JSON of sessions and seats, for sign_in.cpp and session.cpp.
#pragma once

#include "base/record.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/access/session.hpp"
#include "rules/access/team.hpp"

namespace muster::api {

struct TwoFactor {
    bool enrolled = false;
    bool verified = false;
};

}  // namespace muster::api

namespace muster {

template <>
struct JsonType<rules::Seat> {
    static constexpr auto kRecord = record<rules::Seat>(
        "Seat", field<&rules::Seat::organization_id>("organization_id", "Id of the organization."),
        field<&rules::Seat::name>("name", "Name of the organization.", "Riverside Rowing Club"),
        field<&rules::Seat::role>("role", rules::kRoleMeaning));
    static void write(JsonWriter& to, const rules::Seat& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<rules::Offer> {
    using Offer = rules::Offer;
    static constexpr auto kRecord = record<Offer>(
        "OwnInvitation", field<&Offer::id>("id", "Id of the invitation."),
        field<&Offer::organization_id>("organization_id", "Id of the inviting organization."),
        field<&Offer::organization_name>("organization_name", "Name of the inviting organization.",
                                         "Riverside Rowing Club"),
        field<&Offer::role>("role", "Role of the seat."),
        field<&Offer::invited_by_email>("invited_by_email",
                                        "Mail address of the owner who sent the invitation; null "
                                        "if the operator sent it.",
                                        "ada@example.org"),
        field<&Offer::expires_at>("expires_at", "Time when the invitation is no longer valid."));
    static void write(JsonWriter& to, const Offer& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<api::TwoFactor> {
    static constexpr auto kRecord = record<api::TwoFactor>(
        "TwoFactor",
        field<&api::TwoFactor::enrolled>("enrolled", "Whether the admin has an authenticator."),
        field<&api::TwoFactor::verified>("verified",
                                         "Whether the second factor of this session is verified."));
    static void write(JsonWriter& to, const api::TwoFactor& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster
