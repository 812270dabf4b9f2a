// musterctl admin.
#include "base/error.hpp"
#include "base/settings.hpp"

#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/access/roles.hpp"
#include "service/access/team.hpp"
#include "service/access/two_factor.hpp"

namespace muster::ctl {

namespace {

rules::Role role_option(const std::string& given) {
    const auto role = parse<rules::Role>(given);
    if (!role) throw invalid_value("--role", given, "owner, admin or viewer");
    return *role;
}

// The id that identifies the seat or invitation in the API.
std::string id_of(const rules::TeamSeat& seat) {
    return seat.admin_id ? seat.admin_id->text() : seat.invitation_id.value().text();
}

Json::Value seat_json(const rules::TeamSeat& seat) {
    Json::Value json;
    json["id"] = id_of(seat);
    json["status"] = std::string(text_of(seat.status));
    json["email"] = seat.email;
    json["role"] = std::string(text_of(seat.role));
    json["two_factor_enrolled"] = seat.is_enrolled;
    json["since"] = seat.created_at.text();
    json["expires_at"] = seat.expires_at ? Json::Value(seat.expires_at->text()) : Json::Value();
    return json;
}

Result invitation_result(const rules::TeamSeat& seat) {
    return {.json = seat_json(seat),
            .text = id_of(seat) + "\nThe invitation is valid until " +
                    seat.expires_at.value().text() +
                    ". The admin accepts it by signing in with this address.\n"};
}

CommandError no_invitation() {
    return CommandError(
        "there is no invitation of this address; `musterctl admin list` shows the team");
}

CommandError no_seat() {
    return CommandError("the admin with this address has no seat in this organization");
}

std::string state_of(const rules::TeamSeat& seat) {
    if (seat.status != rules::SeatStatus::Active) return std::string(text_of(seat.status));
    return seat.is_enrolled ? "enrolled" : "not enrolled";
}

}  // namespace

Result add_admin(const Invocation& in) {
    const std::string role = in.optional("--role", "admin");
    (void)role_option(role);
    const std::string email = in.email();
    const auto added = service::add_admin(in.context, in.lasting_organization(), email, role);
    if (!added.is_new_seat) {
        throw CommandError(
            "that admin has a seat in this organization already; to change the role, run `admin "
            "set-role`");
    }
    Result result;
    result.json["id"] = added.id.text();
    result.json["role"] = role;
    result.text = added.id.text() + "\nNext: the admin requests a sign-in code by mail at " +
                  in.context.settings.console.origin +
                  " and sets up an authenticator app. The command sends no invitation; `admin "
                  "invite` does. The organization's owners get a mail about the seat.\n";
    return result;
}

Result invite_admin(const Invocation& in) {
    const rules::Role role = role_option(in.optional("--role", "admin"));
    const std::string email = in.email();
    try {
        return invitation_result(
            service::invite_admin(in.context, in.lasting_organization(), email, role));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::Conflict) throw;
        throw CommandError(
            "this address has a seat or an invitation already; `musterctl admin list` shows it");
    }
}

Result resend_invitation(const Invocation& in) {
    const std::string email = in.email();
    const auto seat = service::resend_invitation(in.context, in.lasting_organization(), email);
    if (!seat) throw no_invitation();
    return invitation_result(*seat);
}

Result withdraw_invitation(const Invocation& in) {
    const std::string email = in.email();
    if (!service::withdraw_invitation(in.context, in.organization(), email)) {
        throw no_invitation();
    }
    Result result;
    result.json["withdrawn"] = true;
    result.text = "the invitation was withdrawn\n";
    return result;
}

Result set_admin_role(const Invocation& in) {
    const rules::Role role = role_option(in.required("--role"));
    const std::string email = in.email();
    const auto seat = service::change_role(in.context, in.organization(), email, role);
    if (!seat) throw no_seat();
    return {.json = seat_json(*seat),
            .text = "the role is " + std::string(text_of(role)) + " from the next request on\n"};
}

Result list_admins(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "ROLE", "STATE", "SINCE", "EMAIL"});
    for (const auto& seat : service::list_team(in.context, in.organization())) {
        result.json.append(seat_json(seat));
        table.add({id_of(seat), std::string(text_of(seat.role)), state_of(seat),
                   time_cell(seat.created_at), seat.email});
    }
    result.text = table.text();
    return result;
}

Result remove_admin(const Invocation& in) {
    const std::string email = in.email();
    const OrgId organization = in.organization();
    in.confirm("Remove the seat of " + printable(email) + " in organization " +
               organization.text() + "?");
    if (!service::remove_admin(in.context, organization, email)) throw no_seat();
    Result result;
    result.json["removed"] = true;
    result.text = "the seat was removed\n";
    return result;
}

Result reset_two_factor(const Invocation& in) {
    const std::string email = in.email();
    in.confirm("Remove the second factor and all sessions of " + printable(email) + "?");
    const AdminId id = service::reset_two_factor(in.context, email);
    Result result;
    result.json["id"] = id.text();
    result.json["reset"] = true;
    result.text =
        "the second factor and the sessions were removed; the admin enrolls again at the next "
        "sign-in\n";
    return result;
}

}  // namespace muster::ctl
