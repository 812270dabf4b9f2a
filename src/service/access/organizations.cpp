#include "service/access/organizations.hpp"

#include "base/email.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "store/access/organizations.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

// Returns the organization as it is now. `log` is called if the name changed.
rules::Organization rename_locked(db::OrgStore& org, const std::string& name,
                                  const OrganizationCheck& check,
                                  const std::function<void()>& log) {
    auto organization = store::read_and_lock_organization(org);
    if (!organization) throw Error(ErrorCode::NotFound);
    if (check) check(*organization);
    if (organization->name == name) return *organization;
    organization->name = name;
    store::set_organization_name(org, name);
    log();
    return *organization;
}

}  // namespace

std::string checked_address(std::string_view email) {
    std::string address(email);
    if (normalize_email(address)) {
        throw std::invalid_argument(
            "this is not an email address; use one such as ada@example.org");
    }
    return address;
}

std::string checked_name(std::string_view name) {
    const std::string_view text = trimmed(name);
    constexpr std::size_t kLongest = rules::kLongestOrganizationName;
    if (text.empty()) throw std::invalid_argument("the text is empty; use 1 to 255 characters");
    if (!is_utf8(text)) throw std::invalid_argument("the text is not UTF-8; encode it as UTF-8");
    if (has_control(text)) {
        throw std::invalid_argument(
            "the text has a control character, such as a line break or a tab; remove it");
    }
    if (is_longer_than(text, kLongest)) {
        throw std::invalid_argument("the text has " + std::to_string(utf8_length(text)) +
                                    " characters; use 1 to " + std::to_string(kLongest));
    }
    return std::string(text);
}

rules::Organization create_organization(Context& context, std::string_view name,
                                        StarterAttributes starters) {
    const std::string checked = checked_name(name);
    return context.database.transaction([&](db::Tx& tx) {
        rules::Organization organization{OrgId::create(), checked, Timestamp::now()};
        store::insert_organization(tx, organization);
        OrgTransaction transaction{tx, {organization.id}, organization.created_at};
        add_starter_attributes(transaction, starters == StarterAttributes::Enabled);
        audit_operator(tx, organization.id, "organization.created", organization.id.text(),
                       {{"name", organization.name}}, organization.created_at);
        return organization;
    });
}

rules::Organization rename_organization(OrgTransaction& transaction, std::string_view name,
                                        const OrganizationCheck& check) {
    const std::string checked = checked_name(name);
    db::OrgStore org(transaction.tx, transaction.org());
    return rename_locked(org, checked, check, [&] {
        audit(transaction, "organization.renamed", transaction.org().text(), {{"name", checked}});
    });
}

rules::Organization rename_organization(Context& context, OrgId organization,
                                        std::string_view name) {
    const std::string checked = checked_name(name);
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return rename_locked(org, checked, {}, [&] {
            audit_operator(tx, organization, "organization.renamed", organization.text(),
                           {{"name", checked}}, Timestamp::now());
        });
    });
}

std::optional<rules::Organization> find_organization(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_organization(org);
    });
}

std::vector<rules::Organization> list_organizations(Context& context) {
    return context.database.autocommit([](db::Tx& tx) { return store::list_organizations(tx); });
}

std::vector<rules::Organization> organizations_named(Context& context, std::string_view name) {
    constexpr int kMostFound = 10;
    return context.database.autocommit(
        [&](db::Tx& tx) { return store::find_organizations_named(tx, name, kMostFound); });
}

void require_organization(Context& context, OrgId organization) {
    if (!find_organization(context, organization))
        throw std::invalid_argument("there is no organization " + organization.text());
}

}  // namespace muster::service
