#include "store/ads/slots.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;
using rules::AdSlot;

namespace {

constexpr auto kSlot = columns<AdSlot>(
    column<&AdSlot::organization_id>("organization_id"), column<&AdSlot::id>("id"),
    column<&AdSlot::slug>("slug"), column<&AdSlot::name>("name"), column<&AdSlot::width>("width"),
    column<&AdSlot::height>("height"), column<&AdSlot::created_at>("created_at"),
    column<&AdSlot::updated_at>("updated_at"));

}  // namespace

std::int64_t lock_and_count_ad_slots(db::OrgStore& org) {
    // Without rows there is nothing to lock: the first ones may be added at the same time.
    static constexpr OrgSql kCount{
        "ad_slots.count_for_adding",
        "SELECT COUNT(*) FROM ad_slots WHERE organization_id = :org FOR UPDATE"};
    return org.value<std::int64_t>(kCount);
}

bool insert_ad_slot(db::OrgStore& org, const AdSlot& slot) {
    static constexpr OrgSql kInsert{
        "ad_slots.insert",
        "INSERT INTO ad_slots (organization_id, id, slug, name, width, height, created_at, "
        "updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?)"};
    return db::try_unique([&] {
        org.execute(kInsert, slot.id, slot.slug, slot.name, slot.width, slot.height,
                    slot.created_at, slot.updated_at);
    });
}

std::optional<AdSlot> find_ad_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kFind{
        "ad_slots.find", kSlot,
        "SELECT {columns} FROM ad_slots WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<AdSlot> lock_ad_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kLock{
        "ad_slots.lock", kSlot,
        "SELECT {columns} FROM ad_slots WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<AdSlot> page_ad_slots(db::OrgStore& org, SlotId after, int limit) {
    static constexpr OrgSql kPage{"ad_slots.page", kSlot,
                                  "SELECT {columns} FROM ad_slots FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, after, limit);
}

bool update_ad_slot(db::OrgStore& org, const AdSlot& slot) {
    static constexpr OrgSql kUpdate{
        "ad_slots.update",
        "UPDATE ad_slots SET slug = ?, name = ?, width = ?, height = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    return db::try_unique([&] {
        org.execute(kUpdate, slot.slug, slot.name, slot.width, slot.height, slot.updated_at,
                    slot.id);
    });
}

void delete_ad_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kDelete{"ad_slots.delete",
                                    "DELETE FROM ad_slots WHERE organization_id = :org AND id = ?"};
    org.execute(kDelete, id);
}

std::int64_t count_campaigns_in_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kCount{"ad_slots.count_campaigns",
                                   "SELECT COUNT(*) FROM ad_campaign_slots FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org AND slot_id = ? "
                                   "LOCK IN SHARE MODE"};
    return org.value<std::int64_t>(kCount, id);
}

std::vector<SlotId> lock_ad_slots(db::OrgStore& org, std::span<const SlotId> ids) {
    static constexpr OrgSql kLock{"ad_slots.lock_some",
                                  "SELECT id FROM ad_slots FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id IN ({?}) "
                                  "ORDER BY id FOR UPDATE"};
    return org.all_bulk<SlotId>(kLock, ids.size(), std::vector<Param>(ids.begin(), ids.end()));
}

}  // namespace muster::store
