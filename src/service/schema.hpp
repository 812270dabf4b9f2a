// Making the schema, and the question whether this program and the database fit together.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <string>

namespace muster::service {

int supported_schema_version();
// nullopt: there is no schema yet.
std::optional<int> installed_schema_version(Context& context);

// Makes the database (through `without_database`, a connection that names none) and the schema from
// settings.sql_directory. False when the schema stood already. Throws std::runtime_error for a
// missing file.
bool initialize_schema(db::Database& without_database, Context& context);

// Empty when all is well, else what is wrong and which command mends it.
std::string readiness_problem(Context& context);

}  // namespace muster::service
