#include "store/quotas.hpp"

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

void add_quota_use(db::OrgStore& org, rules::Quota quota, std::int64_t day, int slot,
                   std::int64_t amount) {
    static constexpr OrgSql kAdd{
        "quotas.add",
        "INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
        "SELECT id, ?, ?, ?, ? FROM organizations WHERE id = :org "
        "ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)"};
    org.execute(kAdd, day, text_of(quota), slot, amount);
}

std::int64_t quota_use(db::OrgStore& org, rules::Quota quota, std::int64_t day) {
    static constexpr OrgSql kUse{
        "quotas.use",
        "SELECT CAST(COALESCE(SUM(amount), 0) AS SIGNED) FROM organization_days "
        "FORCE INDEX (PRIMARY) WHERE organization_id = :org AND day = ? AND kind = ?"};
    return org.value<std::int64_t>(kUse, day, text_of(quota));
}

std::int64_t purge_quota_uses(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"quotas.purge",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM organization_days WHERE day < ? LIMIT ?"};
    return tx.execute(kPurge, rules::quota_day_of(until), limit);
}

}  // namespace muster::store
