// The triggers that keep the programs from changing the audit log: whether they work, and how they
// come back (docs/operations/monitoring.md "Health").
#pragma once

#include "base/settings.hpp"
#include "service/context.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct AuditProtection {
    // Which trigger does not work or remains of a repair, and the command that repairs it; or "".
    std::string problem;
    std::string finding;
};
// Tries what the triggers must refuse, and looks for stand-ins, which MariaDB shows. Throws
// DbError.
AuditProtection check_audit_protection(Context& context);

// Creates the triggers of settings.files.sql/schema.sql that are missing, or that differ from those
// that this connection's user would create. The user must be an administrator of the database.
// Does nothing if the schema has another version than this program. Returns the names of the
// created triggers. Throws DbError, and std::runtime_error if the file is missing.
std::vector<std::string> restore_triggers(db::Database& database, const Settings& settings);
// The same as the configured user, if the check has a problem and the user may change the schema.
std::vector<std::string> restore_triggers(Context& context);

}  // namespace muster::service
