// base/error.hpp: the catalog, and which parts of an error each reader sees.
#include "base/error.hpp"

#include "base/faults.hpp"

#include "print.hpp"

#include <set>
#include <string>
#include <vector>

using muster::Error;
using muster::error_entry;
using muster::ErrorCode;

namespace {

const std::vector<ErrorCode> kAll = {
#define ERROR(name, code, status, message, advice) ErrorCode::name,
#include "base/error_codes.def"
#undef ERROR
};

}  // namespace

BOOST_AUTO_TEST_SUITE(error)

BOOST_AUTO_TEST_CASE(every_code_has_its_own_text_a_status_and_sentences) {
    std::set<std::string_view> texts;
    for (const ErrorCode code : kAll) {
        const auto& entry = error_entry(code);
        BOOST_TEST(entry.code == code, entry.text);
        BOOST_TEST(texts.insert(entry.text).second, entry.text);
        BOOST_TEST(entry.status >= 400, entry.text);
        BOOST_TEST(entry.status < 600, entry.text);
        BOOST_TEST(entry.message.ends_with('.'), entry.text);
        BOOST_TEST(entry.advice.ends_with('.'), entry.text);
        BOOST_TEST(entry.text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                   std::string_view::npos);
        BOOST_TEST(Error(code).what() == entry.text);
    }
}

BOOST_AUTO_TEST_CASE(the_codes_of_the_specification_have_its_statuses) {
    const std::vector<std::pair<ErrorCode, int>> table = {
        {ErrorCode::Unauthorized, 401},          {ErrorCode::IdempotencyConflict, 409},
        {ErrorCode::ImportJobActiveExists, 409}, {ErrorCode::ImportJobInvalidState, 409},
        {ErrorCode::ValidationError, 422},
    };
    for (const auto& [code, status] : table) BOOST_TEST(error_entry(code).status == status);
    BOOST_TEST(error_entry(ErrorCode::IdempotencyConflict).text == "IDEMPOTENCY_CONFLICT");
    BOOST_TEST(error_entry(ErrorCode::ImportJobActiveExists).text == "IMPORT_JOB_ACTIVE_EXISTS");
}

BOOST_AUTO_TEST_CASE(a_bare_error_has_no_details) {
    const Error error(ErrorCode::NotFound);
    BOOST_TEST(error.details().isNull());
    BOOST_TEST(error.internal() == "");
    BOOST_TEST(error.retry_after() == 0);
    BOOST_TEST(error.code() == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(details_accumulate_and_internal_text_is_kept_separate) {
    const Error error = Error(ErrorCode::Conflict)
                            .detail("field", "slug")
                            .detail("limit", 5)
                            .internal("SELECT secret")
                            .retry_after(3);
    BOOST_TEST(error.details().size() == 2);
    BOOST_TEST(error.details()["field"].asString() == "slug");
    BOOST_TEST(error.details()["limit"].asInt() == 5);
    BOOST_TEST(error.internal() == "SELECT secret");
    BOOST_TEST(error.retry_after() == 3);
    BOOST_TEST(std::string(error.what()) == "CONFLICT");
}

BOOST_AUTO_TEST_CASE(faults_become_fields_in_order) {
    muster::Faults faults;
    faults.add("rows[3].payload.email", muster::FieldCode::InvalidEmail);
    faults.add("a", muster::FieldCode::InvalidValue, "is odd");
    const Error error = Error(ErrorCode::ValidationError).fields(faults);
    const Json::Value fields = error.details()["fields"];
    BOOST_TEST_REQUIRE(fields.size() == 2U);
    BOOST_TEST(fields[0]["path"].asString() == "rows[3].payload.email");
    BOOST_TEST(fields[0]["code"].asString() == "invalid_email");
    BOOST_TEST(fields[0]["message"].asString() == "is not an email address");
    BOOST_TEST(fields[1]["message"].asString() == "is odd");
    BOOST_TEST(!error.details().isMember("truncated"));
}

BOOST_AUTO_TEST_CASE(fields_have_what_is_accepted) {
    muster::Faults faults;
    faults.add("limit", muster::FieldCode::OutOfRange, muster::between(1, 100));
    faults.add("name", muster::FieldCode::TooLong, muster::longest(255));
    faults.add("status", muster::FieldCode::InvalidChoice, {.allowed = {"active", "locked"}});
    faults.add("dob", muster::FieldCode::InvalidDate);
    const Error error = Error(ErrorCode::ValidationError).fields(faults);
    const Json::Value fields = error.details()["fields"];
    BOOST_TEST(fields[0]["minimum"].asInt() == 1);
    BOOST_TEST(fields[0]["maximum"].asInt() == 100);
    BOOST_TEST(fields[1]["max_length"].asInt() == 255);
    BOOST_TEST(fields[2]["allowed"].size() == 2U);
    BOOST_TEST(fields[2]["allowed"][1].asString() == "locked");
    BOOST_TEST(fields[3]["format"].asString() == "date");
    BOOST_TEST(!fields[3].isMember("allowed"));
    BOOST_TEST(!fields[1].isMember("min_length"));
}

BOOST_AUTO_TEST_CASE(lists_of_allowed_values_are_bounded) {
    muster::Faults faults;
    const std::vector<std::string> most(50, "x");
    const std::vector<std::string> more(51, "x");
    const std::vector<std::string> large(50, std::string(1000, 'x'));
    faults.add("a", muster::FieldCode::InvalidChoice, {.allowed = most});
    faults.add("b", muster::FieldCode::InvalidChoice, {.allowed = more});
    for (int i = 0; i < 50; ++i) {
        faults.add(std::to_string(i), muster::FieldCode::InvalidChoice, "no", {.allowed = large});
    }
    const Error error = Error(ErrorCode::ValidationError).fields(faults);
    const Json::Value fields = error.details()["fields"];
    BOOST_TEST(fields[0]["allowed"].size() == 50U);
    BOOST_TEST(!fields[1].isMember("allowed"));
    BOOST_TEST(fields[2].isMember("allowed"));
    BOOST_TEST(!fields[3].isMember("allowed"));
}

BOOST_AUTO_TEST_CASE(more_than_a_hundred_faults_are_reported_as_truncated) {
    muster::Faults faults;
    for (int i = 0; i < 101; ++i) faults.add(std::to_string(i), muster::FieldCode::Required);
    const Error error = Error(ErrorCode::ValidationError).fields(faults);
    BOOST_TEST(error.details()["fields"].size() == 100U);
    BOOST_TEST(error.details()["truncated"].asBool());
}

BOOST_AUTO_TEST_SUITE_END()
