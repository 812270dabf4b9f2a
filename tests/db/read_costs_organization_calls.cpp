// The measured calls on the summary and the deletion of an organization. Row `n` of a table has
// id_of(n), and its times are n.
#include "db/read_costs.hpp"
#include "store/audit_subjects.hpp"
#include "store/organization/deletion.hpp"
#include "store/organization/summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace muster::test {

using db::OrgStore;
using db::Tx;

namespace {

const Timestamp kAnyTime(1'000'000);

std::vector<MeasuredCall> summary_calls() {
    std::vector<MeasuredCall> calls;
    const auto add = [&](std::vector<std::string> names, std::int64_t most, const auto& call) {
        calls.push_back(measured(std::move(names), most, call));
    };
    // The counted rows are read again from the table of the subquery.
    constexpr std::int64_t kCounted = 3 * kPage + kEnds;
    add({"summary.members_of_status"}, kCounted,
        [](OrgStore& org) { return store::count_members_of_status(org, "active", kPage); });
    add({"summary.members_changed"}, kCounted,
        [](OrgStore& org) { return store::count_members_changed(org, Timestamp(5), kPage); });
    add({"summary.published_articles", "summary.scheduled_articles", "summary.draft_articles"},
        2 * kCounted, [](OrgStore& org) {
            return store::count_articles_by_status(org, Timestamp::now(), kPage).published;
        });
    add({"summary.active_import"}, kEnds,
        [](OrgStore& org) { return store::find_active_import(org, Timestamp(1)); });
    // An organization has 2000 keys of each kind, and 200 endpoints, connections and campaigns.
    add({"summary.api_keys", "summary.publishable_keys", "summary.module_credentials"},
        3 * 2000 + 3 * kEnds, [](OrgStore& org) {
            return store::count_keys(org, Timestamp(1), kAnyTime).valid.api_keys;
        });
    add({"summary.seats", "summary.invitations"}, 2 * 200 + 2 * kEnds,
        [](OrgStore& org) { return store::count_team(org, Timestamp(1)).owners; });
    add({"summary.attributes"}, 200 + kEnds,
        [](OrgStore& org) { return store::count_enabled_attributes(org); });
    add({"summary.webhook_endpoints"}, 200 + kEnds,
        [](OrgStore& org) { return store::count_endpoints_by_state(org).failing; });
    add({"summary.connections"}, 200 + kEnds,
        [](OrgStore& org) { return store::count_connections_of(org).connected; });
    // One look-up for each of the days, of each campaign; the days are read twice.
    add({"summary.ad_days"}, 2 * 7 * 200 + 7 + 4 * kEnds,
        [](OrgStore& org) { return store::sum_ad_days(org, 25).impressions; });
    return calls;
}

// One look-up for each asked id in each table of the statement.
std::vector<MeasuredCall> subject_calls() {
    using rules::SubjectKind;
    struct Find {
        const char* name;
        SubjectKind kind;
        int tables = 1;
    };
    constexpr Find kFinds[] = {
        {"audit_subjects.find_admins", SubjectKind::Admin, 2},
        {"audit_subjects.find_api_keys", SubjectKind::ApiKey},
        {"audit_subjects.find_articles", SubjectKind::Article},
        {"audit_subjects.find_attributes", SubjectKind::Attribute},
        {"audit_subjects.find_campaigns", SubjectKind::Campaign},
        {"audit_subjects.find_connections", SubjectKind::Connection},
        {"audit_subjects.find_creatives", SubjectKind::Creative},
        {"audit_subjects.find_credentials", SubjectKind::Credential},
        {"audit_subjects.find_deliveries", SubjectKind::Delivery, 3},
        {"audit_subjects.find_endpoints", SubjectKind::Endpoint},
        {"audit_subjects.find_imports", SubjectKind::Import},
        {"audit_subjects.find_installations", SubjectKind::Installation, 2},
        {"audit_subjects.find_invitations", SubjectKind::Invitation},
        {"audit_subjects.find_members", SubjectKind::Member},
        {"audit_subjects.find_member_jobs", SubjectKind::MemberJob},
        {"audit_subjects.find_modules", SubjectKind::Module},
        {"audit_subjects.find_publishable_keys", SubjectKind::PublishableKey},
        {"audit_subjects.find_slots", SubjectKind::Slot},
    };
    std::vector<MeasuredCall> calls;
    for (const auto& [name, kind, tables] : kFinds) {
        calls.push_back(measured({name}, 2 * tables * kAsked + kEnds, [kind = kind](OrgStore& org) {
            std::vector<std::string> ids;
            for (const auto& id : some_ids<Uuid>()) ids.emplace_back(id.bytes());
            const bool has_keys = kind == SubjectKind::Attribute;
            return store::find_audit_subjects(org, kind, has_keys ? some_texts("k") : ids);
        }));
    }
    return calls;
}

}  // namespace

std::vector<MeasuredCall> organization_calls() {
    auto calls = summary_calls();
    for (auto& call : subject_calls()) calls.push_back(std::move(call));
    calls.push_back(measured({"organization_deletions.list"}, kOnePage, [](Tx& tx) {
        return store::list_organization_deletions(tx, {}, kPage);
    }));
    // What belongs to a row: the user and its other memberships; the admin, its seats, sessions and
    // backup codes.
    struct Costs {
        std::string_view table;
        std::int64_t of_a_row;
        std::vector<std::string> statements;
    };
    const std::vector<Costs> kOwn{
        {"members",
         12,
         {"organization_rows.find_members", "organization_rows.lock_users",
          "organization_rows.delete_members", "organization_rows.delete_users"}},
        {"seats",
         60,
         {"organization_rows.find_seats", "organization_rows.find_seat",
          "organization_rows.delete_admin"}},
        {"connections", 4, {"organization_rows.delete_connections"}},
        {"sessions", 4, {"organization_rows.find_sessions", "organization_rows.count_sessions"}},
        {"audit_log",
         4,
         {"organization_rows.find_audit_log", "organization_rows.delete_audit_log"}},
    };
    for (const store::TenantTable& table : store::tenant_tables()) {
        const auto own = std::find_if(kOwn.begin(), kOwn.end(), [&](const Costs& costs) {
            return costs.table == table.name;
        });
        const auto names =
            own == kOwn.end()
                ? std::vector<std::string>{"organization_rows.delete_" + std::string(table.name)}
                : own->statements;
        const std::int64_t of_a_row = own == kOwn.end() ? 4 : own->of_a_row;
        calls.push_back(
            {names, (of_a_row + 3) * kPage + 2 * kEnds, [&table](Tx& tx, OrgStore& org) {
                 const auto counted = table.count(org, kPage);
                 (void)table.erase(tx, org, kPage);
                 return static_cast<std::size_t>(counted);
             }});
    }
    return calls;
}

}  // namespace muster::test
