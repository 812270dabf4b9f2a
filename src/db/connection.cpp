#include "db/connection.hpp"

#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <mysql_connection.h>
#include <mysql_driver.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <sstream>

namespace muster::db {

class ResultSet {
  public:
    explicit ResultSet(sql::ResultSet* rows) : rows_(rows) {}
    sql::ResultSet& operator*() const { return *rows_; }

  private:
    std::unique_ptr<sql::ResultSet> rows_;
};

namespace {

// A collector uses about 20 statements, half of them in many sizes (store/batches.hpp). The
// server's limit for all connections (max_prepared_stmt_count) is 16,382 by default.
constexpr std::size_t kCachedStatements = 256;
// The driver keeps each value of a statement until its next run. A larger one is freed before.
constexpr std::size_t kLargeValue = 4 << 10;

// These errors quote the rejected value. It may be somebody's address and must not be logged. It
// may also contain quotes, so the text from the first quote to the last one is removed.
std::string without_quoted(std::string_view text) {
    const std::size_t first = text.find('\'');
    if (first == std::string_view::npos) return std::string(text);
    return std::string(text.substr(0, first)) + "'...'" +
           std::string(text.substr(text.rfind('\'') + 1));
}

[[noreturn]] void rethrow(const sql::SQLException& error, std::string_view statement) {
    const int number = error.getErrorCode();
    const auto kind = kind_of_error(number);
    const bool quotes_values = kind == DbError::Kind::Duplicate || kind == DbError::Kind::BadData;
    const std::string reason = quotes_values ? without_quoted(error.what()) : error.what();
    throw DbError(kind, number,
                  std::string(statement) + ": " + reason + " (" + std::to_string(number) + ")");
}

// Calls the driver, converts its exceptions to DbError and measures the time.
template <class Call>
auto guarded(std::string_view statement, Call&& call) {
    struct Clock {
        std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
        ~Clock() {
            const auto spent = std::chrono::steady_clock::now() - began;
            statistics().statements += 1;
            statistics().microseconds +=
                std::chrono::duration_cast<std::chrono::microseconds>(spent).count();
        }
    } clock;
    try {
        return call();
    } catch (const sql::SQLException& error) {
        rethrow(error, statement);
    }
}

// The statement as sent to the server, and which of its placeholders are the organization.
struct Expanded {
    std::string text;
    std::vector<bool> is_org;
};

class Expander {
  public:
    Expander(const Sql& sql, std::size_t groups) : sql_(sql), groups_(groups) {}

    Expanded expand() {
        append(sql_.text);
        return std::move(out_);
    }

  private:
    void append(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) at += append_next(text.substr(at));
    }

    // Expands the first token of `text` and returns its length.
    std::size_t append_next(std::string_view text) {
        if (text.front() == '\'') {
            const std::size_t end = text.find('\'', 1) + 1;
            out_.text += text.substr(0, end);
            return end;
        }
        if (text.starts_with(kColumnsMark)) {
            append_columns();
            return kColumnsMark.size();
        }
        if (text.front() == '{') {
            const std::size_t end = end_of_group(text);
            repeat(text.substr(1, end - 1));
            return end + 1;
        }
        constexpr std::string_view kOrg = ":org";
        if (text.starts_with(kOrg)) {
            placeholder(true);
            return kOrg.size();
        }
        text.front() == '?' ? placeholder(false) : out_.text.push_back(text.front());
        return 1;
    }

    void append_columns() {
        for (std::size_t i = 0; i < sql_.columns.size(); ++i) {
            if (i > 0) out_.text += ", ";
            append(sql_.columns[i]);
        }
    }

    // The place of the brace that closes the group. A group may contain {columns}.
    static std::size_t end_of_group(std::string_view text) {
        const std::size_t columns = text.find(kColumnsMark);
        const std::size_t end = text.find('}');
        return columns < end ? text.find('}', columns + kColumnsMark.size()) : end;
    }

    void repeat(std::string_view group) {
        const bool is_query = group.starts_with(kUnion);
        if (is_query) group.remove_prefix(kUnion.size());
        for (std::size_t i = 0; i < groups_; ++i) {
            if (i > 0) out_.text += is_query ? kUnion : ",";
            append(group);
        }
    }

    void placeholder(bool is_org) {
        out_.text += '?';
        out_.is_org.push_back(is_org);
    }

    const Sql& sql_;
    std::size_t groups_;
    Expanded out_;
};

sql::ConnectOptionsMap options_for(const ConnectionSettings& settings, const std::string& url) {
    sql::ConnectOptionsMap options;
    constexpr std::string_view kUnix = "unix:";
    const bool is_unix = url.starts_with(kUnix);
    options["hostName"] = sql::SQLString(is_unix ? "unix://" + url.substr(kUnix.size()) : url);
    options["userName"] = sql::SQLString(settings.user);
    options["password"] = sql::SQLString(settings.password.reveal());
    if (!settings.database.empty()) options["schema"] = sql::SQLString(settings.database);
    options["OPT_CONNECT_TIMEOUT"] = settings.connect_timeout_seconds;
    options["OPT_READ_TIMEOUT"] = settings.read_timeout_seconds;
    options["OPT_WRITE_TIMEOUT"] = settings.read_timeout_seconds;
    // A hostile server could otherwise ask for files of this machine.
    options["OPT_LOCAL_INFILE"] = 0;
    options["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
    if (!settings.tls_ca.empty() && !is_unix) {
        options["sslCA"] = sql::SQLString(settings.tls_ca);
        options["sslVerify"] = true;
    }
    return options;
}

std::unique_ptr<sql::Connection> connect(const ConnectionSettings& settings) {
    sql::Driver* driver = get_driver_instance();
    for (std::size_t i = 0; i < settings.urls.size(); ++i) {
        try {
            auto options = options_for(settings, settings.urls[i]);
            return std::unique_ptr<sql::Connection>(driver->connect(options));
        } catch (const sql::SQLException& error) {
            if (i + 1 < settings.urls.size()) continue;  // the next host of the list
            // For the caller, the reason (unreachable, access denied, too many connections) does
            // not matter.
            throw DbError(DbError::Kind::Gone, error.getErrorCode(),
                          "connect: " + std::string(error.what()));
        }
    }
    throw DbError(DbError::Kind::Gone, 0, "connect: database.url contains no server address");
}

}  // namespace

DbError::Kind kind_of_error(int number) {
    struct Entry {
        int number;
        DbError::Kind kind;
    };
    static constexpr std::array kEntries = {
#define SERVER_ERROR(name, number, kind) Entry{number, DbError::Kind::kind},
#include "db/server_errors.def"
#undef SERVER_ERROR
    };
    const auto* const found =
        std::find_if(kEntries.begin(), kEntries.end(),
                     [number](const Entry& entry) { return entry.number == number; });
    return found == kEntries.end() ? DbError::Kind::Other : found->kind;
}

Statistics& statistics() {
    thread_local Statistics statistics;
    return statistics;
}

void load_driver() {
    get_driver_instance();
}

// ---------------------------------------------------------------------------- rows

Rows::Rows(std::unique_ptr<ResultSet> result) : result_(std::move(result)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows::~Rows() = default;

bool Rows::next() {
    return (**result_).next();
}
bool Rows::is_null(unsigned column) const {
    return (**result_).isNull(column);
}

void Rows::refuse_null(unsigned column, const char* value) const {
    if (!is_null(column)) return;
    throw DbError(DbError::Kind::Other, 0, std::string("NULL in a column that must have ") + value);
}

// The driver reads NULL as 0 or "", so only these need a second look.
std::int64_t Rows::integer(unsigned column) const {
    const std::int64_t value = (**result_).getInt64(column);
    if (value == 0) refuse_null(column, "a number");
    return value;
}

std::string Rows::bytes(unsigned column) const {
    sql::SQLString value = (**result_).getString(column);
    if (value.length() == 0) refuse_null(column, "a text");
    statistics().bytes += value.length();
    return std::move(*value.operator->());
}

Uuid Rows::uuid(unsigned column) const {
    const sql::SQLString value = (**result_).getString(column);
    if (value.length() == 0) refuse_null(column, "an id");
    const auto id = Uuid::from_bytes({value.c_str(), value.length()});
    if (!id) throw DbError(DbError::Kind::Other, 0, "an id does not have 16 bytes");
    return *id;
}

// ---------------------------------------------------------------------------- connection

struct Connection::Prepared {
    const Sql* sql;
    std::size_t groups;
    std::vector<bool> is_org;
    std::unique_ptr<sql::PreparedStatement> statement;
};

struct Connection::Impl {
    std::unique_ptr<sql::Connection> connection;
    std::unique_ptr<sql::Statement> plain;
    std::list<Prepared> cache;  // most recently used first; ends with the connection
};

namespace {

// MySQL has no shorter timeout than one second.
std::string lock_timeout(int seconds) {
    return seconds > 0 ? std::to_string(seconds) : "IF(VERSION() LIKE '%MariaDB%', 0, 1)";
}

}  // namespace

Connection::Connection(const ConnectionSettings& settings) : impl_(std::make_unique<Impl>()) {
    impl_->connection = connect(settings);
    impl_->plain.reset(impl_->connection->createStatement());
    // max_sort_length: texts that differ only after the default length would sort as equal.
    run("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,"
        "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', "
        "innodb_lock_wait_timeout = " +
        lock_timeout(settings.lock_timeout_seconds) + ", max_sort_length = 4096, wait_timeout = " +
        std::to_string(settings.idle_timeout_seconds));
    run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    catch_up();
}

void Connection::catch_up() {
    const bool is_galera = guarded("connection.is_galera", [&] {
        const ResultSet found(impl_->plain->executeQuery("SHOW VARIABLES LIKE 'wsrep_on'"));
        return (*found).next() && (*found).getString(2) == "ON";
    });
    if (!is_galera) return;
    try {
        run("SET SESSION wsrep_sync_wait = 1");
        run("START TRANSACTION");
        run("ROLLBACK");
        run("SET SESSION wsrep_sync_wait = 0");
    } catch (const DbError& error) {  // the wait timed out, or the node is not in the majority
        throw DbError(DbError::Kind::Gone, error.number(), "connect: " + std::string(error.what()));
    }
}

Connection::~Connection() = default;

Connection::Prepared& Connection::prepared(const Sql& sql, std::size_t groups) {
    auto& cache = impl_->cache;
    for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
        if (entry->sql != &sql || entry->groups != groups) continue;
        cache.splice(cache.begin(), cache, entry);
        return cache.front();
    }
    Expanded expanded = Expander(sql, groups).expand();
    if (cache.size() >= kCachedStatements) cache.pop_back();
    std::unique_ptr<sql::PreparedStatement> statement(
        impl_->connection->prepareStatement(sql::SQLString(expanded.text)));
    cache.push_front({&sql, groups, std::move(expanded.is_org), std::move(statement)});
    return cache.front();
}

// Frees the large values of a statement after its run. clearParameters() instead would allocate a
// small block for each value.
class Connection::LargeValues {
  public:
    explicit LargeValues(sql::PreparedStatement& statement) : statement_(statement) {}
    ~LargeValues() {
        try {
            for (const unsigned place : places_) statement_.setNull(place, 0);
        } catch (...) {  // the next run or the end of the connection frees them
        }
    }
    LargeValues(const LargeValues&) = delete;
    LargeValues& operator=(const LargeValues&) = delete;

    void note(unsigned place, const Param& param) {
        if (param.bytes().size() > kLargeValue) places_.push_back(place);
    }

  private:
    sql::PreparedStatement& statement_;
    std::vector<unsigned> places_;
};

void Connection::bind(Prepared& statement, const OrgId* org, std::span<const Param> params,
                      LargeValues& large) {
    std::size_t next = 0;
    unsigned place = 0;
    for (const bool is_org : statement.is_org) {
        ++place;
        if (is_org && !org) throw std::logic_error("a tenant's statement runs without a tenant");
        if (!is_org && next >= params.size()) throw std::logic_error("too few parameters");
        const Param param = is_org ? Param(*org) : params[next++];
        large.note(place, param);
        switch (param.kind()) {
            case Param::Kind::Null:
                statement.statement->setNull(place, 0);
                break;
            case Param::Kind::Integer:
                statement.statement->setInt64(place, param.integer());
                break;
            case Param::Kind::Bytes:
                statement.statement->setString(
                    place, sql::SQLString(param.bytes().data(), param.bytes().size()));
                break;
        }
    }
    if (next != params.size()) throw std::logic_error("too many parameters");
}

std::int64_t Connection::execute(const Sql& sql, const OrgId* org, std::span<const Param> params,
                                 std::size_t groups) {
    return guarded(sql.name, [&] {
        Prepared& statement = prepared(sql, groups);
        LargeValues large(*statement.statement);
        bind(statement, org, params, large);
        return static_cast<std::int64_t>(statement.statement->executeUpdate());
    });
}

Rows Connection::query(const Sql& sql, const OrgId* org, std::span<const Param> params,
                       std::size_t groups) {
    return guarded(sql.name, [&] {
        Prepared& statement = prepared(sql, groups);
        LargeValues large(*statement.statement);
        bind(statement, org, params, large);
        return Rows(std::make_unique<ResultSet>(statement.statement->executeQuery()));
    });
}

std::int64_t Connection::run(std::string_view statement) {
    return guarded(statement.substr(0, 40), [&] {
        const bool has_rows =
            impl_->plain->execute(sql::SQLString(statement.data(), statement.size()));
        return has_rows ? 0 : static_cast<std::int64_t>(impl_->plain->getUpdateCount());
    });
}

void Connection::commit() {
    run("COMMIT");
}

bool Connection::rollback() noexcept {
    try {
        run("ROLLBACK");
        return true;
    } catch (...) {
        return false;
    }
}

bool Connection::is_alive() noexcept {
    try {
        return impl_->connection->isValid();
    } catch (...) {
        return false;
    }
}

}  // namespace muster::db
