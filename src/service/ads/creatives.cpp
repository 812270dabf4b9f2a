#include "service/ads/creatives.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/content/html_sanitizer.hpp"
#include "service/audit.hpp"
#include "store/ads/campaigns.hpp"
#include "store/ads/creatives.hpp"

namespace muster::service {
namespace {

using rules::AdCreative;

AdCreative locked(db::OrgStore& org, CreativeId id, const VersionCheck& check) {
    auto creative = store::lock_ad_creative(org, id);
    if (!creative) throw Error(ErrorCode::NotFound);
    check_version(check, creative->updated_at);
    return std::move(*creative);
}

// The HTML is shown on third-party pages.
void sanitize(AdCreative& creative, Faults& faults) {
    if (!creative.html) return;
    creative.html = rules::sanitized_html(*creative.html);
    if (creative.html->empty()) {
        faults.add("html", FieldCode::InvalidValue,
                   "contains only HTML that was removed as unsafe; use allowed elements");
    } else if (creative.html->size() > rules::kMostAdHtml) {
        faults.add("html", FieldCode::TooLong,
                   "has " + std::to_string(creative.html->size()) +
                       " bytes after it was sanitized; use at most " +
                       std::to_string(rules::kMostAdHtml));
    }
}

AdCreative creative_of(const OrgTransaction& transaction, const NewAdCreative& fields) {
    AdCreative creative;
    creative.organization_id = transaction.org();
    creative.id = CreativeId::create();
    creative.campaign_id = fields.campaign_id;
    creative.kind = fields.kind;
    creative.image_url = fields.image_url;
    creative.html = fields.html;
    creative.alt = fields.alt;
    creative.width = fields.width;
    creative.height = fields.height;
    creative.landing_url = fields.landing_url;
    creative.created_at = creative.updated_at = transaction.now;
    return creative;
}

void apply(const AdCreativeChange& change, AdCreative& creative) {
    creative.kind = change.kind.value_or(creative.kind);
    creative.image_url = change.image_url.value_or(creative.image_url);
    creative.html = change.html.value_or(creative.html);
    creative.alt = change.alt.value_or(creative.alt);
    creative.width = change.width.value_or(creative.width);
    creative.height = change.height.value_or(creative.height);
    creative.landing_url = change.landing_url.value_or(creative.landing_url);
}

}  // namespace

AdCreative create_ad_creative(OrgTransaction& transaction, const NewAdCreative& fields) {
    db::OrgStore org(transaction.tx, transaction.org());
    AdCreative creative = creative_of(transaction, fields);
    Faults faults;
    rules::validate_creative(creative, faults);
    sanitize(creative, faults);
    // Locked, so that the count does not change before the commit.
    if (!store::lock_ad_campaign(org, creative.campaign_id)) {
        faults.add("campaign_id", FieldCode::InvalidValue,
                   "is not the id of a campaign of the organization; list the campaigns");
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    if (store::count_ad_creatives(org, creative.campaign_id) >= rules::kMostCreatives) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "a campaign has at most " + std::to_string(rules::kMostCreatives) +
                                  " creatives; delete one first");
    }
    store::insert_ad_creative(org, creative);
    audit(transaction, "ad_creative.created", creative.id.text(),
          {{"campaign_id", creative.campaign_id.text()}});
    return creative;
}

std::vector<AdCreative> list_ad_creatives(Context& context, OrgId organization,
                                          std::optional<CampaignId> campaign,
                                          std::optional<CreativeId> after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const CreativeId first = after.value_or(CreativeId());
        return campaign ? store::page_ad_creatives(org, *campaign, first, limit)
                        : store::page_ad_creatives(org, first, limit);
    });
}

AdCreative read_ad_creative(Context& context, OrgId organization, CreativeId id) {
    auto creative = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_ad_creative(org, id);
    });
    if (!creative) throw Error(ErrorCode::NotFound);
    return std::move(*creative);
}

AdCreative change_ad_creative(OrgTransaction& transaction, CreativeId id,
                              const AdCreativeChange& change, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const AdCreative before = locked(org, id, check);
    AdCreative creative = before;
    apply(change, creative);
    Faults faults;
    rules::validate_creative(creative, faults);
    if (change.html) sanitize(creative, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    if (creative == before) return creative;
    creative.updated_at = next_version(before.updated_at, transaction.now);
    store::update_ad_creative(org, creative);
    audit(transaction, "ad_creative.changed", id.text(),
          {{"campaign_id", creative.campaign_id.text()}});
    return creative;
}

void delete_ad_creative(OrgTransaction& transaction, CreativeId id, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const AdCreative creative = locked(org, id, check);
    store::delete_ad_creative(org, id);
    audit(transaction, "ad_creative.deleted", id.text(),
          {{"campaign_id", creative.campaign_id.text()}});
}

}  // namespace muster::service
