// P10's floor: the rows that a POST /v1/users writes (user, member, idempotency record), written by
// three prepared INSERTs in one transaction, repeatedly on several connections. Usage:
// floor_inserts SOCKET ORGANIZATION CONNECTIONS SECONDS; prints transactions per second.
#include "base/ids.hpp"
#include "base/time.hpp"
#include "bench/at_once.hpp"

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/statement.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using muster::Timestamp;
using muster::Uuid;
using Statement = std::unique_ptr<sql::PreparedStatement>;

constexpr const char* kUser = "INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)";
constexpr const char* kMember =
    "INSERT INTO members (organization_id, user_id, id, email, external_id, first_name, last_name, "
    "country, dob, attributes, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kRecord =
    "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, location, body, "
    "created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kAttributes =
    R"({"phone":["+44 7700 900123","api",1763700000000],"shirt_size":["L","api",1763700000000],)"
    R"("favourite_team":["Northbridge Rovers","api",1763700000000]})";
constexpr std::size_t kReplyBytes = 640;  // of the reply that Muster records

std::string bytes_of(const Uuid& id) {
    return std::string(id.bytes());
}

// The work of one connection.
class Writer {
  public:
    Writer(const std::string& socket, const Uuid& organization) : organization_(organization) {
        sql::ConnectOptionsMap options;
        options["hostName"] = sql::SQLString("unix://" + socket);
        options["userName"] = sql::SQLString("root");
        options["password"] = sql::SQLString("");
        options["schema"] = sql::SQLString("floor");
        connection_.reset(get_driver_instance()->connect(options));
        connection_->setAutoCommit(false);
        user_.reset(connection_->prepareStatement(kUser));
        member_.reset(connection_->prepareStatement(kMember));
        record_.reset(connection_->prepareStatement(kRecord));
    }

    void write() {
        const Uuid id = Uuid::v7();
        const std::string now = std::to_string(Timestamp::now().milliseconds());
        const std::string hash = bytes_of(Uuid::v7()) + bytes_of(id);
        const std::string word = id.text();
        const std::string email = word.substr(24) + "." + word + "@example.com";
        insert(*user_, {bytes_of(id), email, now});
        insert(*member_, {bytes_of(organization_), bytes_of(id), bytes_of(Uuid::v7()), email,
                          "C-" + word.substr(20), "Jürgen", "Fernández", "DE", "1984-06-17",
                          kAttributes, now, now});
        insert(*record_, {bytes_of(organization_), hash, hash, "201", "/v1/users/" + word,
                          std::string(kReplyBytes, 'x'), now, now});
        connection_->commit();
    }

  private:
    static void insert(sql::PreparedStatement& statement, const std::vector<std::string>& values) {
        for (unsigned i = 0; i < values.size(); ++i) statement.setString(i + 1, values[i]);
        statement.executeUpdate();
    }

    Uuid organization_;
    std::unique_ptr<sql::Connection> connection_;
    Statement user_;
    Statement member_;
    Statement record_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto organization = argc == 5 ? Uuid::parse(argv[2]) : std::nullopt;
    if (!organization) {
        std::fputs("usage: floor_inserts SOCKET ORGANIZATION CONNECTIONS SECONDS\n", stderr);
        return 2;
    }
    std::vector<std::unique_ptr<Writer>> writers;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
        writers.push_back(std::make_unique<Writer>(argv[1], *organization));
    }
    const auto rate = muster::bench::calls_per_second(writers, std::atoi(argv[4]));
    if (!rate) return 1;
    std::printf("%.1f\n", *rate);
}
