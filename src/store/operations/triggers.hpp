// The triggers of the schema, which protect the audit log from the programs' user
// (sql/schema.sql).
#pragma once

#include "base/time.hpp"
#include "db/transaction.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// A statement of a schema file that creates a trigger.
struct TriggerStatement {
    std::string name;
    std::string body;  // with single spaces
    std::string text;  // the whole statement
};
// nullopt: the statement does something else.
std::optional<TriggerStatement> trigger_statement(std::string_view statement);

struct InstalledTrigger {
    std::string name;
    std::string body;
    bool is_own = false;  // this connection's user created it
};
// Of this database. Without the privilege TRIGGER, which the programs' user lacks, MariaDB shows
// names only, and MySQL nothing.
std::vector<InstalledTrigger> installed_triggers(db::Tx& tx);

// Whether the installed trigger is what the statement creates for this connection's user.
bool is_made_by(const InstalledTrigger& installed, const TriggerStatement& statement);

// The same trigger under another name. It protects while the trigger itself is replaced, because no
// statement of MySQL replaces one.
TriggerStatement stand_in_of(const TriggerStatement& statement);
// The name of a trigger's stand-in.
std::string stand_in_name(std::string_view trigger);

std::string drop_trigger_statement(const TriggerStatement& statement);

// What a trigger did with a statement that it must refuse.
struct TriggerProbe {
    std::string_view name;
    bool refuses = false;
    std::string error;  // another error of the server, such as a missing definer; or ""
};
// Tries to change and to delete an entry of its own, and undoes everything. Shows the effect of the
// triggers on this connection's user. Throws DbError if it cannot write the entry.
std::array<TriggerProbe, 2> probe_audit_triggers(db::Tx& tx, Timestamp now);

}  // namespace muster::store
