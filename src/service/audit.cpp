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

void audit(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
           AuditDetails details) {
    if (!transaction.actor.admin) return;
    auto entry = entry_of(action, subject_id, details, transaction.now);
    entry.actor = rules::AuditActor::Admin;
    entry.actor_id = transaction.actor.admin;
    if (!transaction.actor.request_id.empty()) entry.request_id = transaction.actor.request_id;
    store::insert_audit_entry(transaction.tx, transaction.org(), entry);
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
    entry.actor = rules::AuditActor::Operator;
    store::insert_audit_entry(tx, organization, entry);
}

void audit_system(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                  AuditDetails details) {
    auto entry = entry_of(action, subject_id, details, transaction.now);
    entry.actor = rules::AuditActor::System;
    store::insert_audit_entry(transaction.tx, transaction.org(), entry);
}

std::vector<rules::AuditEntry> list_audit_log(Context& context, OrgId organization,
                                              std::optional<AuditId> before,
                                              const std::optional<std::string>& action,
                                              const std::optional<std::string>& subject_id,
                                              int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_audit_log(org, before, {action, subject_id}, limit + 1);
    });
}

std::vector<rules::AuditEntry> newest_audit_entries(Context& context,
                                                    const std::optional<OrgId>& organization,
                                                    const std::optional<std::string>& action,
                                                    int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        if (!organization) return store::newest_audit_entries(tx, action, limit);
        db::OrgStore org(tx, *organization);
        return store::page_audit_log(org, std::nullopt, {action, std::nullopt}, limit);
    });
}

}  // namespace muster::service
