#include "service/operations/triggers.hpp"

#include "db/transaction.hpp"
#include "service/operations/schema.hpp"
#include "store/operations/schema.hpp"
#include "store/operations/server.hpp"
#include "store/operations/triggers.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using store::InstalledTrigger;
using store::TriggerProbe;
using store::TriggerStatement;

// While a statement waits for a table's lock, others wait behind it.
constexpr int kTableWaitSeconds = 2;

// Whether this user created the trigger, which therefore does not apply to it.
bool is_exempt(const std::vector<InstalledTrigger>& visible, std::string_view name) {
    return std::any_of(visible.begin(), visible.end(), [&](const InstalledTrigger& trigger) {
        return trigger.is_own && trigger.name == name;
    });
}

std::string fault_of(const TriggerProbe& probe) {
    const std::string name = "the trigger " + std::string(probe.name);
    if (!probe.error.empty()) return name + " does not work (" + probe.error + ")";
    return name + " is missing or was replaced";
}

// It would outlive a later rule of the trigger that it copies.
std::string left_behind(const std::string& stand_in) {
    return "the trigger " + stand_in + " remains of an interrupted repair";
}

bool is_installed(const TriggerStatement& wanted, const std::vector<InstalledTrigger>& installed) {
    return std::any_of(installed.begin(), installed.end(), [&](const InstalledTrigger& trigger) {
        return store::is_made_by(trigger, wanted);
    });
}

bool has_trigger(const std::vector<InstalledTrigger>& installed, std::string_view name) {
    return std::any_of(installed.begin(), installed.end(),
                       [&](const InstalledTrigger& trigger) { return trigger.name == name; });
}

// A failure of any statement leaves the old trigger, the stand-in or the new trigger.
void replace_trigger(db::Tx& tx, const TriggerStatement& wanted) {
    tx.run(store::stand_in_of(wanted).text);
    tx.run(store::drop_trigger_statement(wanted));
    tx.run(wanted.text);
}

std::vector<std::string> restore(db::Tx& tx, const std::vector<std::string>& statements) {
    store::limit_table_wait(tx, kTableWaitSeconds);
    const auto installed = store::installed_triggers(tx);
    std::vector<std::string> restored;
    for (const std::string& statement : statements) {
        const auto wanted = store::trigger_statement(statement);
        if (!wanted) continue;
        const TriggerStatement stand_in = store::stand_in_of(*wanted);
        const bool is_sound = is_installed(*wanted, installed);
        if (!is_sound) {
            replace_trigger(tx, *wanted);
            restored.push_back(wanted->name);
        }
        // Also one that an interrupted repair left.
        if (!is_sound || has_trigger(installed, stand_in.name)) {
            tx.run(store::drop_trigger_statement(stand_in));
        }
    }
    return restored;
}

}  // namespace

AuditProtection check_audit_protection(Context& context) {
    const auto probes = context.database.transaction(
        [](db::Tx& tx) { return store::probe_audit_triggers(tx, Timestamp::now()); });
    const auto visible =
        context.database.autocommit([](db::Tx& tx) { return store::installed_triggers(tx); });
    std::string faults;
    const auto add = [&](const std::string& fault) {
        faults += (faults.empty() ? "" : "; ") + fault;
    };
    for (const TriggerProbe& probe : probes) {
        const bool is_sound =
            probe.refuses || (probe.error.empty() && is_exempt(visible, probe.name));
        if (!is_sound) add(fault_of(probe));
        const std::string stand_in = store::stand_in_name(probe.name);
        if (has_trigger(visible, stand_in)) add(left_behind(stand_in));
    }
    if (!faults.empty()) {
        return {faults + ": run " + command_for(context, "musterctl db init") +
                    ", which restores the triggers that protect the audit log",
                ""};
    }
    const bool is_owner = is_exempt(visible, probes.front().name);
    return {"", is_owner ? "database.user owns the schema, so it may change the audit log"
                         : "database.user cannot change the audit log"};
}

std::vector<std::string> restore_triggers(db::Database& database, const Settings& settings) {
    const SchemaFile file = schema_file(settings);
    return database.autocommit([&](db::Tx& tx) {
        const auto installed = store::schema_record(tx);
        const bool is_current = installed && installed->version == file.makes.version;
        return is_current ? restore(tx, file.statements) : std::vector<std::string>();
    });
}

std::vector<std::string> restore_triggers(Context& context) {
    const bool may_restore =
        context.database.autocommit([](db::Tx& tx) { return store::may_change_schema(tx); });
    if (!may_restore || !schema_status(context).problem.empty()) return {};
    if (check_audit_protection(context).problem.empty()) return {};
    return restore_triggers(context.database, context.settings);
}

}  // namespace muster::service
