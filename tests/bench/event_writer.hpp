// The events of the floors: the rows that a POST /v1/track writes, written by one prepared INSERT
// in autocommit mode into a table of the same structure in the database "floor".
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/prepared_statement.h>

#include <memory>
#include <string>

namespace muster::bench {

class EventWriter {
  public:
    // `rows`: per statement.
    EventWriter(const std::string& socket, const Uuid& organization, int rows)
        : organization_(organization.bytes()), rows_(rows) {
        sql::ConnectOptionsMap options;
        options["hostName"] = sql::SQLString("unix://" + socket);
        options["userName"] = sql::SQLString("root");
        options["password"] = sql::SQLString("");
        options["schema"] = sql::SQLString("floor");
        connection_.reset(get_driver_instance()->connect(options));
        std::string text =
            "INSERT INTO engagement_events (organization_id, id, member_id, installation_id, type, "
            "action, tags, metadata, client_event_id, occurred_at, received_at, geo_country, "
            "geo_region, anonymous_id) VALUES ";
        for (int i = 0; i < rows; ++i) {
            text += i == 0 ? "" : ", ";
            text += "(?, ?, NULL, NULL, NULL, ?, ?, NULL, ?, ?, ?, NULL, NULL, ?)";
        }
        insert_.reset(connection_->prepareStatement(text));
    }

    void write() {
        const std::string now = std::to_string(Timestamp::now().milliseconds());
        unsigned place = 0;
        const auto bind = [&](const std::string& value) { insert_->setString(++place, value); };
        for (int i = 0; i < rows_; ++i) {
            const Uuid id = Uuid::v7();
            const std::string word = id.text();
            bind(organization_);
            bind(std::string(id.bytes()));
            bind("page_viewed");
            bind(R"(["pricing","spring"])");
            bind(word);
            bind(now);
            bind(now);
            bind("v-" + word.substr(24));
        }
        insert_->executeUpdate();
    }

  private:
    std::string organization_;
    int rows_;
    std::unique_ptr<sql::Connection> connection_;
    std::unique_ptr<sql::PreparedStatement> insert_;
};

}  // namespace muster::bench
