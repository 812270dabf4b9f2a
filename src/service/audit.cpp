#include "service/audit.hpp"

#include "base/json.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/quotas.hpp"
#include "store/audit_log.hpp"
#include "store/audit_subjects.hpp"
#include "store/id_bounds.hpp"

#include <algorithm>
#include <map>

namespace muster::service {
namespace {

// `details`: a range of pairs, as AuditDetails is.
template <class Details>
rules::AuditEntry entry_of(std::string_view action, std::string_view subject_id,
                           const Details& details, Timestamp now) {
    rules::AuditEntry entry;
    entry.id = AuditId::create();
    entry.action = action;
    if (!subject_id.empty()) entry.subject_id = subject_id;
    Json::Value object(Json::objectValue);
    for (const auto& [key, value] : details) object[std::string(key)] = value;
    entry.details = json_text(object);
    entry.created_at = now;
    return entry;
}

// An entry of the actor, who must be an admin.
rules::AuditEntry admin_entry(const Actor& actor, std::string_view action,
                              std::string_view subject_id, AuditDetails details, Timestamp now) {
    auto entry = entry_of(action, subject_id, details, now);
    entry.organization_id = actor.organization;
    entry.actor = rules::AuditActor::Admin;
    entry.actor_id = actor.admin;
    if (!actor.request_id.empty()) entry.request_id = actor.request_id;
    return entry;
}

// An id is created after the transaction of its entry began, which is the entry's time. The clocks
// of several machines may differ too. So the ids of a time begin and end somewhat off.
constexpr Milliseconds kIdsBefore = std::chrono::minutes(1);
constexpr Milliseconds kIdsAfter = std::chrono::minutes(10);

AuditId least_id_at(Timestamp when) {
    return AuditId(*Uuid::from_bytes(store::id_at(when, '\0')));
}

store::AuditRange range_of(std::optional<AuditId> before, const AuditFilter& filter) {
    store::AuditRange range{std::nullopt, before};
    if (filter.since) range.least = least_id_at(*filter.since - kIdsBefore);
    if (filter.until) {
        const AuditId end = least_id_at(*filter.until + kIdsAfter);
        range.end = before ? std::min(*before, end) : end;
    }
    return range;
}

store::AuditConditions conditions_of(const AuditFilter& filter) {
    const bool is_prefix = filter.action && filter.action->ends_with('.');
    return {.action = is_prefix ? std::nullopt : filter.action,
            .action_prefix = is_prefix ? filter.action : std::nullopt,
            .subject_id = filter.subject_id,
            .actor = filter.actor,
            .actor_id = filter.actor_id,
            .since = filter.since,
            .until = filter.until};
}

void count_entries(db::Tx& tx, OrgId organization, std::int64_t count, Timestamp now) {
    db::OrgStore org(tx, organization);
    add_use(org, rules::Quota::AuditEntries, count, now);
}

}  // namespace

void audit(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
           AuditDetails details) {
    if (!transaction.actor.admin) return;
    const auto entry = admin_entry(transaction.actor, action, subject_id, details, transaction.now);
    store::insert_audit_entries(transaction.tx, {&entry, 1});
    count_entries(transaction.tx, transaction.org(), 1, transaction.now);
}

void audit(db::Tx& tx, std::span<const AuditedAction> actions, Timestamp now) {
    std::vector<rules::AuditEntry> entries;
    std::map<OrgId, std::int64_t> counts;
    for (const auto& [actor, action, subject_id] : actions) {
        if (!actor->admin) continue;
        entries.push_back(admin_entry(*actor, action, subject_id, {}, now));
        ++counts[actor->organization];
    }
    store::insert_audit_entries(tx, entries);
    for (const auto& [organization, count] : counts) count_entries(tx, organization, count, now);
}

void reject_full_audit_log(Context& context, OrgId organization) {
    context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        reject_used_up(org, rules::Quota::AuditEntries, context.settings.limits.audit_entries,
                       Timestamp::now());
    });
}

void audit_admin(db::Tx& tx, OrgId organization, AdminId admin, std::string_view request_id,
                 std::string_view action, AuditDetails details, Timestamp now) {
    OrgTransaction transaction{
        tx, {organization, admin, std::nullopt, std::string(request_id)}, now};
    audit(transaction, action, "", details);
}

void audit_operator(db::Tx& tx, const std::optional<OrgId>& organization, std::string_view action,
                    std::string_view subject_id, AuditDetails details, Timestamp now) {
    auto entry = entry_of(action, subject_id, details, now);
    entry.organization_id = organization;
    entry.actor = rules::AuditActor::Operator;
    store::insert_audit_entries(tx, {&entry, 1});
}

void audit_system(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                  AuditDetails details) {
    auto entry = entry_of(action, subject_id, details, transaction.now);
    entry.organization_id = transaction.org();
    entry.actor = rules::AuditActor::System;
    store::insert_audit_entries(transaction.tx, {&entry, 1});
}

void audit_refused_sign_in(db::Tx& tx, std::span<const OrgId> organizations, AdminId admin,
                           std::string_view factor, std::string_view request_id, Timestamp now,
                           std::size_t unlogged) {
    if (organizations.empty()) return store::look_for_no_audit_entry(tx, AuditId::create());
    std::vector<std::pair<std::string_view, std::string>> details = {
        {"factor", std::string(factor)}, {"request_id", std::string(request_id)}};
    if (unlogged > 0) details.emplace_back("unlogged", std::to_string(unlogged));
    std::vector<rules::AuditEntry> entries;
    for (const OrgId organization : organizations) {
        auto& entry = entries.emplace_back(entry_of("sign_in.refused", admin.text(), details, now));
        entry.organization_id = organization;
        entry.actor = rules::AuditActor::System;
    }
    store::insert_audit_entries(tx, entries);
}

namespace {

// The id as AuditSubject has it. nullopt: the text is not an id of that kind.
std::optional<std::string> stored_id(rules::SubjectKind kind, const std::string& subject_id) {
    if (kind == rules::SubjectKind::Attribute) return subject_id;
    const auto id = Uuid::parse(subject_id);
    return id ? std::optional(std::string(id->bytes())) : std::nullopt;
}

void add_parent(rules::AuditEntry& entry, const std::optional<std::string>& id) {
    if (id) entry.subject_parents.push_back(Uuid::from_bytes(*id).value().text());
}

// Gives the entries the names of their records, with one statement for each kind.
void name_subjects(db::OrgStore& org, std::vector<rules::AuditEntry>& entries) {
    std::map<rules::SubjectKind, std::map<std::string, std::vector<rules::AuditEntry*>>> kinds;
    for (auto& entry : entries) {
        const auto kind = rules::subject_kind_of(entry.action);
        if (!kind || !entry.subject_id) continue;
        if (auto id = stored_id(*kind, *entry.subject_id)) kinds[*kind][*id].push_back(&entry);
    }
    for (const auto& [kind, entries_of] : kinds) {
        std::vector<std::string> ids;
        for (const auto& [id, _] : entries_of) ids.push_back(id);
        for (const auto& subject : store::find_audit_subjects(org, kind, ids)) {
            const auto found = entries_of.find(subject.id);
            if (found == entries_of.end()) continue;
            for (auto* const entry : found->second) {
                entry->subject_name = subject.name;
                add_parent(*entry, subject.outer);
                add_parent(*entry, subject.inner);
            }
        }
    }
}

}  // namespace

AuditPage list_audit_log(Context& context, OrgId organization, std::optional<AuditId> before,
                         const AuditFilter& filter, int limit, int most_examined) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto range = range_of(before, filter);
        AuditPage page;
        if (filter != AuditFilter()) {
            page.next = store::find_audit_entry_at(org, range, most_examined);
            if (page.next) range.least = page.next;
        }
        page.entries = store::page_audit_log(org, range, conditions_of(filter), limit + 1);
        if (page.entries.size() > static_cast<std::size_t>(limit)) {
            page.entries.pop_back();
            page.next = page.entries.back().id;
        }
        name_subjects(org, page.entries);
        return page;
    });
}

std::vector<rules::AuditEntry> newest_audit_entries(Context& context,
                                                    const std::optional<OrgId>& organization,
                                                    const std::optional<std::string>& action,
                                                    int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        if (!organization) return store::newest_audit_entries(tx, action, limit);
        db::OrgStore org(tx, *organization);
        store::AuditConditions conditions;
        conditions.action = action;
        return store::page_audit_log(org, {}, conditions, limit);
    });
}

}  // namespace muster::service
