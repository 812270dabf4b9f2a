// api/access/audit_log.cpp: who may read the audit log, its query parameters, and the fields of an
// entry.
#include "api/routes.hpp"
#include "base/error.hpp"
#include "rules/access/roles.hpp"

#include "print.hpp"

#include <set>
#include <string>

using namespace muster;
using api::Endpoint;

namespace {

const Endpoint& row() {
    const auto found = api::match(http::Method::Get, "/v1/audit-log");
    BOOST_TEST_REQUIRE(found.endpoint);
    return *found.endpoint;
}

bool is_good(std::string_view query) {
    try {
        (void)api::decode_query(row(), query);
        return true;
    } catch (const Error& error) {
        BOOST_TEST(error.code() == ErrorCode::ValidationError);
        return false;
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(audit_log)

BOOST_AUTO_TEST_CASE(admins_and_viewers_read_the_log_and_keys_do_not) {
    BOOST_TEST(row().operation == "listAuditLog");
    BOOST_TEST(row().access == api::Access::Admin);
    BOOST_TEST(row().role == rules::Role::Viewer);
}

BOOST_AUTO_TEST_CASE(a_page_has_1_to_100_entries_and_50_by_default) {
    BOOST_TEST(api::decode_query(row(), "").integer("limit") == 50);
    for (const auto good : {"limit=1", "limit=100", "action=api_key.revoked&subject_id=x"}) {
        BOOST_TEST(is_good(good), good);
    }
    for (const auto bad : {"limit=0", "limit=101", "limit=x", "action=a&action=b", "offset=5"}) {
        BOOST_TEST(!is_good(bad), bad);
    }
    BOOST_TEST(!is_good("action=" + std::string(256, 'x')));
}

BOOST_AUTO_TEST_CASE(an_entry_has_actor_action_subject_and_time) {
    const Json::Value entry = row().handler.shape.schema()["properties"]["audit_log"]["items"];
    const auto names = entry["properties"].getMemberNames();
    BOOST_TEST(std::set<std::string>(names.begin(), names.end()) ==
               (std::set<std::string>{"id", "actor", "actor_id", "actor_email", "action",
                                      "subject_id", "subject_name", "subject_parents", "details",
                                      "request_id", "created_at"}));
    BOOST_TEST(entry["required"].size() == names.size());
    BOOST_TEST(entry["properties"]["actor"]["enum"][0].asString() == "admin");
    BOOST_TEST(entry["properties"]["actor"]["enum"][1].asString() == "operator");
    BOOST_TEST(entry["properties"]["actor_email"]["type"][1].asString() == "null");
}

BOOST_AUTO_TEST_SUITE_END()
