#include "store/ads/slots.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using rules::AdSlot;

namespace {

#define SLOT_COLUMNS "organization_id, id, slug, name, width, height, created_at, updated_at"

AdSlot slot_of(const db::Rows& rows) {
    AdSlot slot;
    slot.organization_id = rows.id<OrgId>(1);
    slot.id = rows.id<SlotId>(2);
    slot.slug = rows.bytes(3);
    slot.name = rows.bytes(4);
    slot.width = rows.integer(5);
    slot.height = rows.integer(6);
    slot.created_at = rows.timestamp(7);
    slot.updated_at = rows.timestamp(8);
    return slot;
}

std::optional<AdSlot> one_slot(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return slot_of(rows);
}

}  // namespace

std::int64_t count_ad_slots_for_adding(db::OrgStore& org) {
    // Two that find none at all may both go on, and deadlock over their rows: one runs again.
    static constexpr OrgSql kCount{
        "ad_slots.count_for_adding",
        "SELECT COUNT(*) FROM ad_slots WHERE organization_id = :org FOR UPDATE"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

bool insert_ad_slot(db::OrgStore& org, const AdSlot& slot) {
    static constexpr OrgSql kInsert{
        "ad_slots.insert",
        "INSERT INTO ad_slots (organization_id, id, slug, name, width, height, created_at, "
        "updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?)"};
    return db::unless_taken([&] {
        org.execute(kInsert, slot.id, slot.slug, slot.name, slot.width, slot.height,
                    slot.created_at, slot.updated_at);
    });
}

std::optional<AdSlot> find_ad_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kFind{"ad_slots.find",
                                  "SELECT " SLOT_COLUMNS
                                  " FROM ad_slots WHERE organization_id = :org AND id = ?"};
    return one_slot(org.query(kFind, id));
}

std::optional<AdSlot> lock_ad_slot(db::OrgStore& org, SlotId id) {
    static constexpr OrgSql kLock{
        "ad_slots.lock",
        "SELECT " SLOT_COLUMNS " FROM ad_slots WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return one_slot(org.query(kLock, id));
}

std::vector<AdSlot> page_ad_slots(db::OrgStore& org, SlotId after, int limit) {
    static constexpr OrgSql kPage{"ad_slots.page",
                                  "SELECT " SLOT_COLUMNS
                                  " FROM ad_slots WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    std::vector<AdSlot> list;
    for (auto rows = org.query(kPage, after, limit); rows.next();) list.push_back(slot_of(rows));
    return list;
}

bool update_ad_slot(db::OrgStore& org, const AdSlot& slot) {
    static constexpr OrgSql kUpdate{
        "ad_slots.update",
        "UPDATE ad_slots SET slug = ?, name = ?, width = ?, height = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    return db::unless_taken([&] {
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
    static constexpr OrgSql kCount{
        "ad_slots.count_campaigns",
        "SELECT COUNT(*) FROM ad_campaign_slots WHERE organization_id = :org AND slot_id = ? "
        "LOCK IN SHARE MODE"};
    auto rows = org.query(kCount, id);
    rows.next();
    return rows.integer(1);
}

std::vector<SlotId> lock_ad_slots(db::OrgStore& org, std::span<const SlotId> ids) {
    static constexpr OrgSql kLock{
        "ad_slots.lock_some",
        "SELECT id FROM ad_slots WHERE organization_id = :org AND id IN ({?}) "
        "ORDER BY id FOR UPDATE"};
    std::vector<SlotId> found;
    const std::vector<Param> params(ids.begin(), ids.end());
    for (auto rows = org.query_bulk(kLock, ids.size(), params); rows.next();) {
        found.push_back(rows.id<SlotId>(1));
    }
    return found;
}

}  // namespace muster::store
