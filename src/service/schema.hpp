// Making the schema, and the question whether this program and the database fit together.
#pragma once

#include "service/context.hpp"

#include <cstdint>
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

enum class Readiness : std::uint8_t { Ready, DatabaseAway, WrongSchema };
struct ReadinessReport {
    Readiness state = Readiness::Ready;
    std::string problem;  // what is wrong and what mends it; "" when Ready
};
ReadinessReport check_readiness(Context& context);

}  // namespace muster::service
