#include "service/installations.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "store/installations.hpp"

namespace muster::service {

std::optional<rules::Installation> find_installation(Context& context, OrgId organization,
                                                     InstallationId id) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_installation(org, id);
    });
}

rules::Installation lock_installation(Unit& unit, InstallationId id) {
    db::OrgStore org(unit.tx, unit.org());
    auto installation = store::lock_installation(org, id);
    if (!installation) throw Error(ErrorCode::NotFound);
    return std::move(*installation);
}

std::vector<rules::Installation> list_installations(Context& context, OrgId organization,
                                                    std::optional<InstallationId> after,
                                                    int limit) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_installations(org, after.value_or(InstallationId()), limit);
    });
}

}  // namespace muster::service
