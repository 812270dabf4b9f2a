// musterctl admin.
#include "rules/access/admins.hpp"
#include "base/settings.hpp"

#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/access/roles.hpp"
#include "service/access/organizations.hpp"
#include "service/access/two_factor.hpp"

namespace muster::ctl {

Result add_admin(const Invocation& in) {
    const std::string role = in.optional("--role", "admin");
    if (!parse<rules::Role>(role)) throw invalid_value("--role", role, "owner, admin or viewer");
    const auto added =
        service::add_admin(in.context, in.organization(), in.required("--email"), role);
    if (!added.is_new_seat) {
        throw CommandError(
            "that admin has a seat in this organization already; to change the "
            "role, run `admin remove` and then `admin add`");
    }
    Result result;
    result.json["id"] = added.id.text();
    result.json["role"] = role;
    result.text = added.id.text() + "\nNext: the admin requests a sign-in code by mail at " +
                  in.context.settings.console.origin +
                  " and sets up an authenticator app. Muster sends no invitation. The "
                  "organization's owners get a mail about the seat.\n";
    return result;
}

Result list_admins(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "ROLE", "TWO-FACTOR", "SINCE", "EMAIL"});
    for (const auto& holder : service::list_admins(in.context, in.organization())) {
        const std::string role(text_of(holder.role));
        Json::Value entry;
        entry["id"] = holder.admin_id.text();
        entry["email"] = holder.email;
        entry["role"] = role;
        entry["two_factor_enrolled"] = holder.is_enrolled;
        entry["since"] = holder.since.text();
        result.json.append(std::move(entry));
        table.add({holder.admin_id.text(), role, holder.is_enrolled ? "enrolled" : "not enrolled",
                   time_cell(holder.since), holder.email});
    }
    result.text = table.text();
    return result;
}

Result remove_admin(const Invocation& in) {
    const OrgId organization = in.organization();
    const std::string& email = in.required("--email");
    in.confirm("Remove the seat of " + printable(email) + " in organization " +
               organization.text() + "?");
    if (!service::remove_admin(in.context, organization, email)) {
        throw CommandError("the admin with this address has no seat in this organization");
    }
    Result result;
    result.json["removed"] = true;
    result.text = "the seat was removed\n";
    return result;
}

Result reset_two_factor(const Invocation& in) {
    in.confirm("Remove the second factor and all sessions of " + printable(in.required("--email")) +
               "?");
    const AdminId id = service::reset_two_factor(in.context, in.required("--email"));
    Result result;
    result.json["id"] = id.text();
    result.json["reset"] = true;
    result.text =
        "the second factor and the sessions were removed; the admin enrolls again at the next "
        "sign-in\n";
    return result;
}

}  // namespace muster::ctl
