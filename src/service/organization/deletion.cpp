#include "service/organization/deletion.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"
#include "service/audit.hpp"
#include "service/organization/status.hpp"
#include "store/access/organizations.hpp"
#include "store/organization/deletion.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr std::size_t kDeletionsAtOnce = 100;

// Returns false if there was nothing to delete.
bool continue_deletion(Context& context, OrgId organization,
                       const std::function<bool()>& should_stop) {
    const auto before = find_deleted_rows(context, organization);
    const auto state = delete_organization(context, organization, should_stop);
    const auto after = find_deleted_rows(context, organization);
    if (state == DeletionState::Waiting && before == after) return false;
    log_event(LogLevel::Info, "organization.deletion",
              {{"org", organization.text()},
               {"done", state == DeletionState::Done ? "true" : "false"},
               {"rows", after.value_or(0)}});
    return true;
}

}  // namespace

std::vector<TableCount> preview_organization_deletion(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        std::vector<TableCount> counts;
        for (const store::TenantTable& table : store::tenant_tables()) {
            const auto rows = table.count(org, kMostPreviewedRows + 1);
            if (rows > 0) counts.push_back({table.name, rows});
        }
        return counts;
    });
}

void request_organization_deletion(Context& context, OrgId organization) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const auto found = store::read_and_lock_organization(org);
        if (!found) throw Error(ErrorCode::NotFound);
        if (found->state == rules::OrganizationState::Deleting) return;
        const Timestamp now = Timestamp::now();
        if (found->state == rules::OrganizationState::Active) {
            store::set_organization_disabled(org, now);
        }
        (void)store::insert_organization_deletion(org, now);
        store::remove_all_connections(org, now);
        // In the installation's log, because the organization's is deleted too.
        audit_operator(tx, std::nullopt, "organization.deletion_requested", organization.text(),
                       {{"name", found->name}}, now);
    });
    end_job_leases(context, organization);
}

DeletionState OrganizationDeletion::step() {
    const auto tables = store::tenant_tables();
    std::int64_t deleted = 0;
    bool is_table_done = false;
    const auto state = context_.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization_);
        if (!store::lock_organization_deletion(org)) return DeletionState::Done;
        if (table_ == tables.size()) return finish(tx);
        const store::TenantTable& table = tables[table_];
        const auto rows = table.erase(tx, org, table.at_once);
        if (rows > 0) store::add_deleted_rows(org, rows);
        deleted = rows;
        is_table_done = rows < table.at_once;
        return DeletionState::Working;
    });
    if (table_ == tables.size()) {
        table_ = 0;
        deleted_in_pass_ = 0;
    } else if (is_table_done) {
        ++table_;
    }
    deleted_in_pass_ += deleted;
    return state;
}

DeletionState OrganizationDeletion::finish(db::Tx& tx) {
    db::OrgStore org(tx, organization_);
    const auto rows = store::find_deleted_rows(org).value_or(0);
    if (!store::delete_organization(tx, org)) {
        // What was running at the beginning of a pass may have written to an empty table.
        return deleted_in_pass_ > 0 ? DeletionState::Working : DeletionState::Waiting;
    }
    audit_operator(tx, std::nullopt, "organization.deleted", organization_.text(),
                   {{"deleted_rows", std::to_string(rows)}}, Timestamp::now());
    return DeletionState::Done;
}

DeletionState delete_organization(Context& context, OrgId organization,
                                  const std::function<bool()>& should_stop) {
    OrganizationDeletion deletion(context, organization);
    auto state = DeletionState::Working;
    while (state == DeletionState::Working && !should_stop()) state = deletion.step();
    return state;
}

bool delete_organizations(Context& context, const std::function<bool()>& should_stop) {
    bool has_deleted = false;
    std::vector<OrgId> page;
    do {
        const OrgId last = page.empty() ? OrgId() : page.back();
        page = context.database.autocommit([&](db::Tx& tx) {
            return store::list_organization_deletions(tx, last, static_cast<int>(kDeletionsAtOnce));
        });
        for (const OrgId organization : page) {
            if (should_stop()) return has_deleted;
            has_deleted = continue_deletion(context, organization, should_stop) || has_deleted;
        }
    } while (page.size() == kDeletionsAtOnce);
    return has_deleted;
}

std::optional<std::int64_t> find_deleted_rows(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_deleted_rows(org);
    });
}

}  // namespace muster::service
