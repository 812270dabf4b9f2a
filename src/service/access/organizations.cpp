#include "service/access/organizations.hpp"

#include "base/email.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "service/access/notices.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "store/access/admins.hpp"
#include "store/access/organizations.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

constexpr std::size_t kLongestName = 255;

}  // namespace

std::string checked_address(std::string_view email) {
    std::string address(email);
    if (normalize_email(address)) {
        throw std::invalid_argument("the address is not an email address");
    }
    return address;
}

std::string checked_name(std::string_view name) {
    const std::string_view text = trimmed(name);
    if (text.empty() || !is_utf8(text) || utf8_length(text) > kLongestName) {
        throw std::invalid_argument("a name has 1 to 255 characters");
    }
    return std::string(text);
}

rules::Organization create_organization(Context& context, std::string_view name,
                                        StarterAttributes starters) {
    return context.database.transaction([&](db::Tx& tx) {
        rules::Organization organization{OrgId::create(), checked_name(name), Timestamp::now()};
        store::insert_organization(tx, organization);
        OrgTransaction transaction{tx, {organization.id}, organization.created_at};
        add_starter_attributes(transaction, starters == StarterAttributes::Enabled);
        audit_operator(tx, organization.id, "organization.created", organization.id.text(),
                       {{"name", organization.name}}, organization.created_at);
        return organization;
    });
}

std::vector<rules::Organization> list_organizations(Context& context) {
    return context.database.autocommit([](db::Tx& tx) { return store::list_organizations(tx); });
}

std::vector<OrgId> organizations_named(Context& context, std::string_view name) {
    constexpr int kMostFound = 10;
    return context.database.autocommit(
        [&](db::Tx& tx) { return store::find_organizations_named(tx, name, kMostFound); });
}

void require_organization(Context& context, OrgId organization) {
    const bool exists = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_organization(org).has_value();
    });
    if (!exists) throw std::invalid_argument("there is no organization " + organization.text());
}

AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role) {
    const std::string address = checked_address(email);
    const Timestamp now = Timestamp::now();
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const AdminId admin = store::find_or_insert_admin(tx, address, now);
        const AddedAdmin added{admin, store::insert_seat(org, admin, role, now)};
        if (added.is_new_seat) {
            audit_operator(tx, organization, "seat.added", admin.text(),
                           {{"role", std::string(role)}}, now);
            OrgTransaction transaction{tx, {organization}, now};
            notify_of_access(transaction, context.keys,
                             {.what = "admin",
                              .name = address + " as " + std::string(role),
                              .id = {},
                              .remedy = "ask the operator of Muster to remove the seat\n"
                                        "(musterctl admin remove)",
                              .except = admin});
        }
        return added;
    });
}

std::vector<rules::SeatHolder> list_admins(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::list_seat_holders(org);
    });
}

bool remove_admin(Context& context, OrgId organization, std::string_view email) {
    const std::string address = checked_address(email);
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const auto admin = store::find_admin(tx, address);
        if (!admin || !store::delete_seat(org, admin->id)) return false;
        audit_operator(tx, organization, "seat.removed", admin->id.text(), {}, Timestamp::now());
        return true;
    });
}

}  // namespace muster::service
