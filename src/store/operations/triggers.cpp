#include "store/operations/triggers.hpp"

#include "base/text.hpp"
#include "rules/audit.hpp"
#include "store/audit_log.hpp"

#include <functional>

namespace muster::store {

using db::column;
using db::columns;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kInstalledTrigger = columns<InstalledTrigger>(
    column<&InstalledTrigger::name>("trigger_name"),
    column<&InstalledTrigger::body>("COALESCE(action_statement, '')"),
    column<&InstalledTrigger::is_own>("COALESCE(definer = CURRENT_USER(), 0)"));

constexpr std::string_view kBeginning = "CREATE TRIGGER IF NOT EXISTS ";

std::string with_single_spaces(std::string_view text) {
    std::string spaced;
    for (const char c : trimmed_ascii(text)) {
        const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!is_space) {
            spaced += c;
        } else if (!spaced.ends_with(' ')) {
            spaced += ' ';
        }
    }
    return spaced;
}

// An error of one statement leaves the transaction as it was.
TriggerProbe probed(std::string_view name, const std::function<void()>& statement) {
    using Kind = db::DbError::Kind;
    try {
        statement();
        return {name, false, ""};
    } catch (const db::DbError& error) {
        if (error.server_error() == db::ServerError::RaisedByTrigger) return {name, true, ""};
        if (error.kind() != Kind::Other) throw;
        return {name, false, error.what()};
    }
}

}  // namespace

std::string stand_in_name(std::string_view trigger) {
    return std::string(trigger) + "_stand_in";
}

TriggerStatement stand_in_of(const TriggerStatement& statement) {
    TriggerStatement other = statement;
    other.name = stand_in_name(statement.name);
    other.text.replace(kBeginning.size(), statement.name.size(), other.name);
    return other;
}

std::optional<TriggerStatement> trigger_statement(std::string_view statement) {
    constexpr std::string_view kBody = "FOR EACH ROW";
    const std::size_t body = statement.find(kBody);
    if (!statement.starts_with(kBeginning) || body == std::string_view::npos) return std::nullopt;
    const std::string_view name = statement.substr(kBeginning.size());
    std::string_view action = trimmed_ascii(statement.substr(body + kBody.size()));
    if (action.ends_with(';')) action.remove_suffix(1);
    return TriggerStatement{std::string(name.substr(0, name.find(' '))), with_single_spaces(action),
                            std::string(statement)};
}

std::vector<InstalledTrigger> installed_triggers(db::Tx& tx) {
    static constexpr SystemSql kTriggers{
        "triggers.installed", Why{"concerns the schema, no tenant data"}, kInstalledTrigger,
        "SELECT {columns} FROM information_schema.triggers WHERE trigger_schema = DATABASE()"};
    return tx.all(kTriggers);
}

bool is_made_by(const InstalledTrigger& installed, const TriggerStatement& statement) {
    return installed.is_own && installed.name == statement.name &&
           with_single_spaces(installed.body) == statement.body;
}

std::string drop_trigger_statement(const TriggerStatement& statement) {
    return "DROP TRIGGER IF EXISTS " + statement.name;
}

std::array<TriggerProbe, 2> probe_audit_triggers(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kUpdate{"triggers.probe_update",
                                       Why{"changes only an entry that is undone at once"},
                                       "UPDATE audit_log SET action = 'probe' WHERE id = ?"};
    static constexpr SystemSql kDelete{"triggers.probe_delete",
                                       Why{"deletes only an entry that is undone at once"},
                                       "DELETE FROM audit_log WHERE id = ?"};
    rules::AuditEntry entry;
    entry.id = AuditId::create();
    entry.actor = rules::AuditActor::System;
    entry.action = "health.probed";
    entry.details = "{}";
    entry.created_at = now;
    std::array<TriggerProbe, 2> probes;
    tx.attempt_or_undo([&] {
        insert_audit_entries(tx, {&entry, 1});
        probes = {probed("audit_log_update", [&] { tx.execute(kUpdate, entry.id); }),
                  probed("audit_log_delete", [&] { tx.execute(kDelete, entry.id); })};
        return false;
    });
    return probes;
}

}  // namespace muster::store
