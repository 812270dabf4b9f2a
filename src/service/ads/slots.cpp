#include "service/ads/slots.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "service/audit.hpp"
#include "store/ads/slots.hpp"

namespace muster::service {
namespace {

using rules::AdSlot;

AdSlot locked(db::OrgStore& org, SlotId id, const VersionCheck& check) {
    auto slot = store::lock_ad_slot(org, id);
    if (!slot) throw Error(ErrorCode::NotFound);
    check_version(check, slot->updated_at);
    return std::move(*slot);
}

[[noreturn]] void reject_taken_slug() {
    throw Error(ErrorCode::Conflict).detail("field", "slug");
}

}  // namespace

AdSlot create_ad_slot(OrgTransaction& transaction, const NewAdSlot& fields) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (store::lock_and_count_ad_slots(org) >= rules::kMostSlots) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an organization has at most " + std::to_string(rules::kMostSlots) +
                                  " ad slots; delete one first");
    }
    AdSlot slot{transaction.org(), SlotId::create(), fields.slug,     fields.name,
                fields.width,      fields.height,    transaction.now, transaction.now};
    if (!store::insert_ad_slot(org, slot)) reject_taken_slug();
    audit(transaction, "ad_slot.created", slot.id.text(), {{"slug", slot.slug}});
    return slot;
}

std::vector<AdSlot> list_ad_slots(Context& context, OrgId organization, std::optional<SlotId> after,
                                  int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_ad_slots(org, after.value_or(SlotId()), limit);
    });
}

AdSlot read_ad_slot(Context& context, OrgId organization, SlotId id) {
    auto slot = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_ad_slot(org, id);
    });
    if (!slot) throw Error(ErrorCode::NotFound);
    return std::move(*slot);
}

AdSlot change_ad_slot(OrgTransaction& transaction, SlotId id, const AdSlotChange& change,
                      const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const AdSlot before = locked(org, id, check);
    AdSlot slot = before;
    slot.slug = change.slug.value_or(slot.slug);
    slot.name = change.name.value_or(slot.name);
    slot.width = change.width.value_or(slot.width);
    slot.height = change.height.value_or(slot.height);
    if (slot == before) return slot;
    slot.updated_at = next_version(before.updated_at, transaction.now);
    if (!store::update_ad_slot(org, slot)) reject_taken_slug();
    audit(transaction, "ad_slot.changed", id.text(), {{"slug", slot.slug}});
    return slot;
}

void delete_ad_slot(OrgTransaction& transaction, SlotId id, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const AdSlot slot = locked(org, id, check);
    if (const auto count = store::count_campaigns_in_slot(org, id); count > 0) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "campaigns use this slot: " + std::to_string(count) +
                                  "; remove it from them first");
    }
    store::delete_ad_slot(org, id);
    audit(transaction, "ad_slot.deleted", id.text(), {{"slug", slot.slug}});
}

}  // namespace muster::service
