// musterctl admin.
#include "rules/access/admins.hpp"
#include "ctl/command.hpp"
#include "rules/access/roles.hpp"
#include "service/access/organizations.hpp"
#include "service/access/two_factor.hpp"

namespace muster::ctl {

Result add_admin(const Invocation& in) {
    const std::string role = in.optional("--role", "admin");
    if (!parse<rules::Role>(role)) throw invalid_value("--role", role, "owner, admin or viewer");
    service::require_organization(in.context, in.organization());
    const auto added =
        service::add_admin(in.context, in.organization(), in.required("--email"), role);
    if (!added.is_new_seat)
        throw CommandError("that admin has a seat in this organization already");
    Result result;
    result.json["id"] = added.id.text();
    result.json["role"] = role;
    result.text = added.id.text() + "\n";
    return result;
}

Result list_admins(const Invocation& in) {
    service::require_organization(in.context, in.organization());
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const auto& holder : service::list_admins(in.context, in.organization())) {
        const std::string role(text_of(holder.role));
        Json::Value entry;
        entry["id"] = holder.admin_id.text();
        entry["email"] = holder.email;
        entry["role"] = role;
        entry["two_factor_enrolled"] = holder.is_enrolled;
        entry["since"] = holder.since.text();
        result.json.append(std::move(entry));
        result.text += holder.admin_id.text() + "  " + role + "  " +
                       (holder.is_enrolled ? "enrolled" : "not enrolled") + "  " + holder.email +
                       "\n";
    }
    return result;
}

Result remove_admin(const Invocation& in) {
    if (!service::remove_admin(in.context, in.organization(), in.required("--email"))) {
        throw CommandError("no admin of that address has a seat in this organization");
    }
    Result result;
    result.json["removed"] = true;
    result.text = "the seat is gone\n";
    return result;
}

Result reset_two_factor(const Invocation& in) {
    const AdminId id = service::reset_two_factor(in.context, in.required("--email"));
    Result result;
    result.json["id"] = id.text();
    result.json["reset"] = true;
    result.text = "the second factor is gone, and so are the sessions\n";
    return result;
}

}  // namespace muster::ctl
