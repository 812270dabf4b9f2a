#include "service/audit.hpp"

#include "base/json.hpp"
#include "db/transaction.hpp"
#include "store/audit_log.hpp"

namespace muster::service {
namespace {

rules::AuditEntry entry_of(std::string_view action, std::string_view subject_id,
                           AuditDetails details, Timestamp now) {
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

}  // namespace

void audit(Unit& unit, std::string_view action, std::string_view subject_id, AuditDetails details) {
    if (!unit.actor.admin) return;
    auto entry = entry_of(action, subject_id, details, unit.now);
    entry.actor = rules::AuditActor::Admin;
    entry.actor_id = unit.actor.admin;
    if (!unit.actor.request_id.empty()) entry.request_id = unit.actor.request_id;
    store::insert_audit_entry(unit.tx, unit.org(), entry);
}

void audit_admin(db::Tx& tx, OrgId organization, AdminId admin, std::string_view request_id,
                 std::string_view action, AuditDetails details, Timestamp now) {
    Unit unit{tx, {organization, admin, std::nullopt, std::string(request_id)}, now};
    audit(unit, action, "", details);
}

void audit_operator(db::Tx& tx, const std::optional<OrgId>& organization, std::string_view action,
                    std::string_view subject_id, AuditDetails details, Timestamp now) {
    auto entry = entry_of(action, subject_id, details, now);
    entry.actor = rules::AuditActor::Operator;
    store::insert_audit_entry(tx, organization, entry);
}

void audit_system(Unit& unit, std::string_view action, std::string_view subject_id,
                  AuditDetails details) {
    auto entry = entry_of(action, subject_id, details, unit.now);
    entry.actor = rules::AuditActor::System;
    store::insert_audit_entry(unit.tx, unit.org(), entry);
}

std::vector<rules::AuditEntry> list_audit_log(Context& context, OrgId organization,
                                              std::optional<AuditId> before,
                                              const std::optional<std::string>& action,
                                              const std::optional<std::string>& subject_id,
                                              int limit) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_audit_log(org, before, {action, subject_id}, limit + 1);
    });
}

std::vector<rules::AuditEntry> newest_audit_entries(Context& context,
                                                    const std::optional<OrgId>& organization,
                                                    const std::optional<std::string>& action,
                                                    int limit) {
    return context.database.read([&](db::Tx& tx) {
        if (!organization) return store::newest_audit_entries(tx, action, limit);
        db::OrgStore org(tx, *organization);
        return store::page_audit_log(org, std::nullopt, {action, std::nullopt}, limit);
    });
}

}  // namespace muster::service
