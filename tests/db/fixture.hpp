// What the database tests share: the server behind MUSTER_TEST_SOCKET (user root without a
// password, or MUSTER_TEST_USER), a schema that main.cpp makes once in a database of its own, and a
// fixture that finds it empty.
#pragma once

#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/context.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

// Throws std::runtime_error when MUSTER_TEST_SOCKET is not set.
const Settings& settings();
db::ConnectionSettings connection_settings();
// The folder that holds src/ and sql/.
std::string source_root();

// Asks `condition` again and again; false when it is still not so after ten seconds.
[[nodiscard]] bool until(const std::function<bool()>& condition);

// Runs work(0) … work(count - 1) at once, each in a thread of its own; throws on what one of them
// threw. Boost's checks are not for threads.
void side_by_side(int count, const std::function<void(int)>& work);

// Runs `call`; the kind of the DbError that it threw, or nullopt when it threw none.
template <class Call>
std::optional<db::DbError::Kind> kind_of(Call&& call) {
    try {
        call();
    } catch (const db::DbError& error) {
        return error.kind();
    }
    return std::nullopt;
}

// The same for what the API would answer.
template <class Call>
std::optional<Error> error_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}
template <class Call>
std::optional<ErrorCode> code_of(Call&& call) {
    const auto error = error_of(call);
    return error ? std::optional(error->code()) : std::nullopt;
}

// A connection that takes statements as text, to look at the tables behind the product's back.
class Client {
  public:
    explicit Client(const db::ConnectionSettings& settings = connection_settings())
        : connection_(settings) {}

    template <class... Params>
    std::int64_t execute(std::string_view text, const Params&... params) {
        const std::vector<db::Param> bound{db::Param(params)...};
        return connection_.execute(statement(text), nullptr, bound);
    }
    template <class... Params>
    db::Rows query(std::string_view text, const Params&... params) {
        const std::vector<db::Param> bound{db::Param(params)...};
        return connection_.query(statement(text), nullptr, bound);
    }
    // The first column, NULL as "NULL".
    template <class... Params>
    std::vector<std::string> column(std::string_view text, const Params&... params) {
        std::vector<std::string> cells;
        for (auto rows = query(text, params...); rows.next();) {
            cells.push_back(rows.is_null(1) ? "NULL" : rows.bytes(1));
        }
        return cells;
    }
    // The only cell of the only row.
    template <class... Params>
    std::string value(std::string_view text, const Params&... params) {
        return column(text, params...).at(0);
    }
    template <class... Params>
    std::int64_t number(std::string_view text, const Params&... params) {
        return std::stoll(value(text, params...));
    }
    void run(std::string_view text) { connection_.run(text); }
    db::Connection& connection() { return connection_; }
    std::int64_t id() { return number("SELECT CONNECTION_ID()"); }

    // Ends another connection and waits until the server has let go of it.
    void kill(std::int64_t connection_id);
    // Whether some transaction waits for a row, right now.
    bool someone_waits();

    // Tables with an organization_id.
    std::vector<std::string> tenant_tables();
    // All that is stored for an organization: a digest for each tenant table, "" for one without a
    // row. Equal as long as nothing changed.
    std::map<std::string, std::string> snapshot(OrgId organization);

  private:
    const db::Sql& statement(std::string_view text);

    db::Connection connection_;
    std::map<std::string, db::Sql, std::less<>> statements_;  // a cache knows them by address
};

// A table of the numbers 1 … count, its column `seq`, to stand behind FROM: neither engine knows
// the other's own way to one.
std::string sequence(int count);

// How many entries of tables and indexes this session's statements have read so far (its figures
// Handler_read_…); those whose name holds `without` are left out ("rnd": of temporary tables, for
// the most).
std::int64_t entries_read(db::Tx& tx, std::string_view without = "none");

// Changes something in the schema for as long as it lives.
class Meanwhile {
  public:
    Meanwhile(Client& client, std::string_view change, std::string_view back)
        : client_(client), back_(back) {
        client_.run(change);
    }
    ~Meanwhile() { client_.run(back_); }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

  private:
    Client& client_;
    std::string back_;
};

// What a worker or a runner has: a database and a context of its own. One a thread.
struct DatabaseContext {
    explicit DatabaseContext(const db::ConnectionSettings& with = connection_settings());

    // Runs `work(Unit&)` in a transaction of that organization.
    template <class Work>
    auto as(OrgId organization, const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {organization}, Timestamp::now()};
            return work(transaction);
        });
    }

    db::Database database;
    service::Context context;
};

// The fixture: every table empty.
struct Fixture : DatabaseContext {
    Fixture();
    // A new one, with the starter attributes, disabled.
    OrgId organization(std::string_view name = "Acme");
    // A published module of that slug, installed and enabled.
    InstallationId install(OrgId organization, std::string_view slug = "shop");

    Client client;
};

}  // namespace muster::test
