#include "store/organization/usage.hpp"

namespace muster::store {

using db::OrgSql;

std::int64_t count_used_modules(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.modules",
        "SELECT COUNT(*) FROM (SELECT 1 FROM modules FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_publishable_keys(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.publishable_keys",
        "SELECT COUNT(*) FROM (SELECT 1 FROM publishable_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND revoked_at IS NULL LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_webhook_endpoints(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.webhook_endpoints",
        "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_endpoints FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND removed_at IS NULL LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_attributes(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.attributes",
        "SELECT COUNT(*) FROM (SELECT 1 FROM attributes FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_ad_slots(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.ad_slots",
        "SELECT COUNT(*) FROM (SELECT 1 FROM ad_slots FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_ad_campaigns(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.ad_campaigns",
        "SELECT COUNT(*) FROM (SELECT 1 FROM ad_campaigns FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_used_connections(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.connections",
        "SELECT COUNT(*) FROM (SELECT 1 FROM connections FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND removed_at IS NULL LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t count_waiting_deliveries(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "usage.waiting_deliveries",
        "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries FORCE INDEX (queue) "
        "WHERE status = 'pending' AND organization_id = :org LIMIT ?) AS used"};
    return org.value<std::int64_t>(kCount, most);
}

}  // namespace muster::store
