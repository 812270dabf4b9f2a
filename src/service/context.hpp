// The input of every use case: database, settings, keys, actor and the transaction of one
// organization. Only service/ opens transactions.
#pragma once

#include "base/ids.hpp"
#include "base/sealing.hpp"
#include "base/time.hpp"

#include <optional>
#include <string>

namespace muster {
struct Settings;
}

namespace muster::db {
class Database;
class Tx;
}  // namespace muster::db

namespace muster::service {

struct Context {
    db::Database& database;
    const Settings& settings;
    KeyRing keys;
};

// Who acts and for which organization, taken from the credential.
struct Actor {
    OrgId organization;
    std::optional<AdminId> admin = {};  // nullopt: the organization's own key, or the operator
    std::optional<ApiKeyId> api_key = {};
    std::string request_id = {};  // "" outside a request
    std::optional<std::string> admin_email = {};
};

// A transaction of one organization.
struct OrgTransaction {
    db::Tx& tx;
    Actor actor;
    Timestamp now;

    const OrgId& org() const { return actor.organization; }
};

}  // namespace muster::service
