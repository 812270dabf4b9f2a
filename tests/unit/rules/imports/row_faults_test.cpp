// rules/imports/row_faults.hpp and kept_payload.hpp: what is kept of a malformed payload is
// bounded, and corrupt bytes are rejected.
#include "rules/imports/row_faults.hpp"

#include "json/json_body.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/kept_payload.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using namespace muster;
using namespace muster::rules;

namespace muster::rules {

std::ostream& operator<<(std::ostream& to, const RowFault& fault) {
    return to << fault.path << ' ' << field_code_text(fault.code);
}

}  // namespace muster::rules

namespace {

using FaultList = std::vector<RowFault>;

json::Decoding decoded(std::string_view payload, MemberFields& out) {
    const json::JsonBody body(payload);
    json::Decoding to;
    to.today = *Date::parse("2026-11-23");
    KeptPayload{}.decode(body.root(), json::Path(), to, out);
    return to;
}

MemberFields kept(std::string_view payload) {
    MemberFields out;
    BOOST_TEST(decoded(payload, out).faults.empty());
    return out;
}

FaultList faults_of(const MemberFields& fields) {
    return unpack_faults(fields.attributes).faults;
}

bool are_corrupt_faults(std::string_view text) {
    try {
        (void)unpack_faults(text);
        return false;
    } catch (const CorruptBlock&) {
        return true;
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(import_row_faults)

BOOST_AUTO_TEST_CASE(a_valid_payload_is_decoded_as_usual) {
    const auto fields = kept(R"({"email":" A@X.test ","country":"gb","attributes":{"phone":"1"}})");
    BOOST_TEST(fields.email == "a@x.test");
    BOOST_TEST(fields.country == "GB");
    BOOST_TEST(fields.attributes == R"({"phone":"1"})");
    BOOST_TEST(!holds_faults(fields.attributes));
    BOOST_TEST(!holds_faults(""));
}

BOOST_AUTO_TEST_CASE(a_malformed_payload_keeps_its_values_and_faults) {
    const auto fields =
        kept(R"({"email":"Eve at Example","country":"UK","dob":5,"first_name":" Eve ",)"
             R"("attributes":{"phone":"1","deep":{"a":1}},"hobby":"chess"})");
    BOOST_TEST(fields.email == "eve at example");
    BOOST_TEST(fields.country == "UK");
    BOOST_TEST(fields.dob == "5");
    BOOST_TEST(fields.first_name == "Eve");
    BOOST_TEST(unpack_faults(fields.attributes).attributes == R"({"phone":"1"})");
    BOOST_TEST(faults_of(fields) == (FaultList{{"email", FieldCode::InvalidEmail},
                                               {"country", FieldCode::InvalidCountry},
                                               {"dob", FieldCode::WrongType},
                                               {"hobby", FieldCode::UnknownField},
                                               {"attributes.deep", FieldCode::WrongType}}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_payload_that_is_not_an_object_is_a_fault_of_the_call) {
    for (const char* payload : {"[]", "1", "\"x\"", "true"}) {
        MemberFields out;
        BOOST_TEST(!decoded(payload, out).faults.empty(), payload);
    }
}

BOOST_AUTO_TEST_CASE(long_values_are_shortened_and_stay_too_long) {
    std::string text;
    while (text.size() < 100'000) text += "ä€😀";
    for (std::size_t lead = 0; lead < 4; ++lead) {
        const std::string value = std::string(lead, 'x') + text;
        const auto fields = kept(R"({"email":")" + value + R"(","first_name":")" + value + "\"}");
        BOOST_TEST(fields.first_name.size() <= 1027);
        BOOST_TEST(faults_of(kept(R"({"email":"a@x.test","first_name":")" + fields.first_name +
                                  "\"}")) == (FaultList{{"first_name", FieldCode::TooLong}}),
                   boost::test_tools::per_element());
    }
    BOOST_TEST(kept(R"({"email":[")" + text + "\"]}").email.size() <= 1027);
}

BOOST_AUTO_TEST_CASE(the_number_and_length_of_faults_are_bounded) {
    std::string payload = R"({"attributes":{"a":{})";
    for (int i = 0; i < 90; ++i)
        payload += ",\"" + std::string(60, 'k') + std::to_string(i) + "\":{}";
    payload += "}";
    for (int i = 0; i < 200; ++i)
        payload += ",\"" + std::string(5000, 'u') + std::to_string(i) + "\":1";
    const auto fields = kept(payload + "}");
    const auto faults = faults_of(fields);
    BOOST_TEST(faults.size() == kMostRowFaults);
    BOOST_TEST(fields.attributes.size() < 2000);
}

BOOST_AUTO_TEST_CASE(faults_of_core_fields_come_first) {
    const auto fields = kept(R"({"attributes":{"a":{},"b":{}},"country":"UK","email":"a@x.test"})");
    BOOST_TEST(faults_of(fields).front() == (RowFault{"country", FieldCode::InvalidCountry}));
    BOOST_TEST(row_faults_message(faults_of(kept(R"({"country":"UK"})"))) ==
               "country is not an officially assigned ISO 3166-1 alpha-2 code; email is required");
}

BOOST_AUTO_TEST_CASE(corrupt_faults_are_rejected) {
    const std::string good = pack_faults({{"country", FieldCode::InvalidCountry}}, "{}");
    BOOST_TEST(!are_corrupt_faults(good));
    BOOST_TEST(unpack_faults(good).attributes == "{}");
    for (std::size_t size = 1; size + 2 < good.size(); ++size) {
        BOOST_TEST(are_corrupt_faults(good.substr(0, size)), size);
    }
    BOOST_TEST(are_corrupt_faults("\x01\x0b"));                  // eleven faults
    BOOST_TEST(are_corrupt_faults("\x01\xff\xff\xff\xff\xff"));  // no number
    BOOST_TEST(are_corrupt_faults("\x01\x01\xff\xff\xff\xff\x0fx"));
    const auto later = unpack_faults(std::string_view("\x01\x01\x03new\x01p", 8));
    BOOST_TEST(later.faults == (FaultList{{"p", FieldCode::InvalidValue}}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_malformed_row_is_invalid_before_validation) {
    const auto fields = kept(R"({"email":"a@x.test","country":"UK"})");
    const RowOutcome outcome = outcome_before_validation(staged_row(1, fields));
    BOOST_TEST((outcome.state == RowState::Invalid));
    BOOST_TEST((outcome.error == RowError::FieldInvalid));
    BOOST_TEST(outcome.key == "country");
    const auto valid = kept(R"({"email":"a@x.test"})");
    BOOST_TEST((outcome_before_validation(staged_row(1, valid)).state == RowState::Staged));
}

BOOST_AUTO_TEST_CASE(an_erasure_finds_the_address_in_a_malformed_email) {
    const auto redacted = [](std::string_view payload) {
        const auto fields = kept(payload);
        std::string block;
        append_row(block, staged_row(1, fields));
        return redact_rows(block, "ann@example.org").rows == 1;
    };
    BOOST_TEST(redacted(R"({"email":"ann@example.org","country":"UK"})"));
    BOOST_TEST(redacted(R"({"email":"Ann Lee <ANN@Example.org>"})"));
    BOOST_TEST(redacted(R"({"email":"x@example.org, ann@example.org"})"));
    BOOST_TEST(redacted(R"({"email":["Ann@example.org"]})"));
    BOOST_TEST(!redacted(R"({"email":"joann@example.org","country":"UK"})"));
    BOOST_TEST(!redacted(R"({"email":"ann@example.orgs","country":"UK"})"));
    BOOST_TEST(!redacted(R"({"email":"ann at example.org"})"));
}

BOOST_AUTO_TEST_SUITE_END()
