#include "service/ads/campaigns.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "store/ads/campaigns.hpp"
#include "store/ads/slots.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::AdCampaign;

AdCampaign locked(db::OrgStore& org, CampaignId id, const VersionCheck& check) {
    auto campaign = store::lock_ad_campaign(org, id);
    if (!campaign) throw Error(ErrorCode::NotFound);
    check_version(check, campaign->updated_at);
    store::read_slots_of_campaigns(org, {&*campaign, 1});
    return std::move(*campaign);
}

void validate_slots(db::OrgStore& org, const std::vector<SlotId>& ids, Faults& faults) {
    const auto found = store::lock_ad_slots(org, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (std::find(found.begin(), found.end(), ids[i]) != found.end()) continue;
        faults.add("slot_ids[" + std::to_string(i) + "]", FieldCode::InvalidValue,
                   "is not the id of a slot of the organization; list the slots");
    }
}

// Requires that the slots are locked, so that the counts do not change before the commit.
void reject_full_slots(db::OrgStore& org, const std::vector<SlotId>& slots) {
    for (const SlotId& slot : slots) {
        if (store::count_campaigns_in_slot(org, slot) <= rules::kMostCampaignsInSlot) continue;
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "a slot has at most " + std::to_string(rules::kMostCampaignsInSlot) +
                                  " campaigns; remove one from slot " + slot.text() + " first");
    }
}

// Only slots and targeting that the request names are checked: an existing campaign may target an
// attribute that was disabled later.
void check_campaign(OrgTransaction& transaction, const AdCampaign& campaign, bool has_new_slots,
                    bool has_new_targeting) {
    db::OrgStore org(transaction.tx, transaction.org());
    Faults faults;
    rules::validate_campaign(campaign, faults);
    if (has_new_slots) validate_slots(org, campaign.slot_ids, faults);
    if (has_new_targeting) {
        rules::validate_targeting(campaign.targeting,
                                  attribute_registry(transaction.tx, transaction.org()), faults);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

// The targeting after a round trip through its stored form, so that the reply has the spelling of
// later ones.
rules::Targeting stored_form(const rules::Targeting& targeting) {
    return rules::targeting_of(rules::targeting_document(targeting)).value();
}

void write_slots(db::OrgStore& org, AdCampaign& campaign) {
    std::sort(campaign.slot_ids.begin(), campaign.slot_ids.end());
    store::insert_campaign_slots(org, campaign.id, campaign.slot_ids);
    reject_full_slots(org, campaign.slot_ids);
}

AdCampaign campaign_of(const OrgTransaction& transaction, const NewAdCampaign& fields) {
    AdCampaign campaign;
    campaign.organization_id = transaction.org();
    campaign.id = CampaignId::create();
    campaign.name = fields.name;
    campaign.slot_ids = fields.slot_ids;
    campaign.status = fields.status;
    campaign.starts_at = fields.starts_at.value_or(transaction.now);
    campaign.ends_at = fields.ends_at;
    campaign.weight = fields.weight;
    campaign.daily_impressions = fields.daily_impressions;
    campaign.frequency_cap = fields.frequency_cap;
    campaign.targeting = fields.targeting;
    campaign.created_at = campaign.updated_at = transaction.now;
    return campaign;
}

void apply(const AdCampaignChange& change, AdCampaign& campaign) {
    campaign.name = change.name.value_or(campaign.name);
    campaign.slot_ids = change.slot_ids.value_or(campaign.slot_ids);
    campaign.status = change.status.value_or(campaign.status);
    campaign.starts_at = change.starts_at.value_or(campaign.starts_at);
    campaign.ends_at = change.ends_at.value_or(campaign.ends_at);
    campaign.weight = change.weight.value_or(campaign.weight);
    campaign.daily_impressions = change.daily_impressions.value_or(campaign.daily_impressions);
    campaign.frequency_cap = change.frequency_cap.value_or(campaign.frequency_cap);
    campaign.targeting = change.targeting.value_or(campaign.targeting);
}

}  // namespace

AdCampaign create_ad_campaign(OrgTransaction& transaction, const NewAdCampaign& fields) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto count = store::lock_and_count_ad_campaigns(org);
    AdCampaign campaign = campaign_of(transaction, fields);
    check_campaign(transaction, campaign, true, true);
    if (count >= rules::kMostCampaigns) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an organization has at most " +
                                  std::to_string(rules::kMostCampaigns) +
                                  " campaigns; delete one first");
    }
    campaign.targeting = stored_form(campaign.targeting);
    store::insert_ad_campaign(org, campaign);
    write_slots(org, campaign);
    audit(transaction, "ad_campaign.created", campaign.id.text(), {{"name", campaign.name}});
    return campaign;
}

std::vector<AdCampaign> list_ad_campaigns(Context& context, OrgId organization,
                                          std::optional<CampaignId> after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto list = store::page_ad_campaigns(org, after.value_or(CampaignId()), limit);
        store::read_slots_of_campaigns(org, list);
        return list;
    });
}

AdCampaign read_ad_campaign(Context& context, OrgId organization, CampaignId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto campaign = store::find_ad_campaign(org, id);
        if (!campaign) throw Error(ErrorCode::NotFound);
        store::read_slots_of_campaigns(org, {&*campaign, 1});
        return std::move(*campaign);
    });
}

AdCampaign change_ad_campaign(OrgTransaction& transaction, CampaignId id,
                              const AdCampaignChange& change, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    AdCampaign before = locked(org, id, check);
    AdCampaign campaign = before;
    apply(change, campaign);
    check_campaign(transaction, campaign, change.slot_ids.has_value(),
                   change.targeting.has_value());
    campaign.targeting = stored_form(campaign.targeting);
    std::sort(campaign.slot_ids.begin(), campaign.slot_ids.end());
    if (campaign == before) return before;
    campaign.updated_at = next_version(before.updated_at, transaction.now);
    store::update_ad_campaign(org, campaign);
    if (campaign.slot_ids != before.slot_ids) {
        store::delete_campaign_slots(org, id);
        write_slots(org, campaign);
    }
    audit(transaction, "ad_campaign.changed", id.text(), {{"name", campaign.name}});
    return campaign;
}

void delete_ad_campaign(OrgTransaction& transaction, CampaignId id, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const AdCampaign campaign = locked(org, id, check);
    store::delete_ad_campaign(org, id);
    audit(transaction, "ad_campaign.deleted", id.text(), {{"name", campaign.name}});
}

std::vector<rules::AdDay> list_ad_days(Context& context, OrgId organization, CampaignId id,
                                       int days) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (!store::find_ad_campaign(org, id)) throw Error(ErrorCode::NotFound);
        return store::list_ad_days(org, id, rules::ad_day_of(Timestamp::now()) - days + 1);
    });
}

}  // namespace muster::service
