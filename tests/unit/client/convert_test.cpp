// client/convert.hpp: converting the cells of a record to a payload.
#include "client/convert.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;

namespace {

using rules::AttributeType;

const rules::AttributeRegistry& shared_registry() {
    static const rules::AttributeRegistry kRegistry({
        {"phone", "Phone", AttributeType::Text, {}, true},
        {"score", "Score", AttributeType::Number, {}, true},
        {"vip", "VIP", AttributeType::Boolean, {}, true},
        {"interests", "Interests", AttributeType::MultiChoice, {"news", "events"}, true},
        {"joined", "Joined", AttributeType::Date, {}, true},
        {"shirt_size", "Shirt size", AttributeType::SingleChoice, {"S", "M"}, true},
    });
    return kRegistry;
}

Converted convert(const std::vector<std::string>& header, const std::vector<std::string>& cells) {
    const Converter converter(route_columns(unique_column_names(header), {}, shared_registry()),
                              shared_registry(), *Date::parse("2026-11-20"));
    return converter.convert(cells);
}

std::string code(const std::vector<std::string>& header, const std::vector<std::string>& cells) {
    const Converted converted = convert(header, cells);
    return converted.refusal ? converted.refusal->code : "";
}

std::string row_json(const Converted& converted) {
    std::string json;
    append_row_json(json, 7, converted.fields);
    return json;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_convert)

BOOST_AUTO_TEST_CASE(a_record_becomes_a_normalized_payload) {
    const Converted converted =
        convert({"Email", "First Name", "Country", "Birthday", "Phone", "Score", "Note"},
                {" Ann@Example.ORG ", "Ann", "de", "1990-02-28", "", "4.5", "x"});
    BOOST_TEST(!converted.refusal);
    BOOST_TEST(
        row_json(converted) ==
        R"({"rowNumber":7,"payload":{"email":"ann@example.org","first_name":"Ann","country":"DE",)"
        R"("dob":"1990-02-28","attributes":{"score":4.5}}})");
}

BOOST_AUTO_TEST_CASE(empty_and_missing_cells_are_absent) {
    const Converted converted = convert({"Email", "First Name", "Phone"}, {"a@example.org", "  "});
    BOOST_TEST(row_json(converted) == R"({"rowNumber":7,"payload":{"email":"a@example.org"}})");
}

BOOST_AUTO_TEST_CASE(the_formula_guard_is_removed) {
    const Converted converted =
        convert({"Email", "Phone", "Last Name"}, {"a@example.org", "'+49 30 1", "'-x"});
    BOOST_TEST(converted.fields.attributes == R"({"phone":"+49 30 1"})");
    BOOST_TEST(converted.fields.last_name == "-x");
}

BOOST_AUTO_TEST_CASE(attributes_get_the_types_of_the_registry) {
    BOOST_TEST(attribute_json(AttributeType::Boolean, "Ja") == "true");
    BOOST_TEST(attribute_json(AttributeType::Boolean, "0") == "false");
    BOOST_TEST(attribute_json(AttributeType::Boolean, "NO") == "false");
    BOOST_TEST(attribute_json(AttributeType::Boolean, "maybe") == "\"maybe\"");
    BOOST_TEST(attribute_json(AttributeType::Date, "31.12.1999") == "\"31.12.1999\"");
    BOOST_TEST(attribute_json(AttributeType::SingleChoice, "M") == "\"M\"");
    BOOST_TEST(attribute_json(AttributeType::Text, "say \"hi\"") == R"("say \"hi\"")");
}

BOOST_AUTO_TEST_CASE(choices_are_split_at_the_strongest_separator) {
    BOOST_TEST(attribute_json(AttributeType::MultiChoice, "news; events") ==
               R"(["news","events"])");
    BOOST_TEST(attribute_json(AttributeType::MultiChoice, "news|events|news|") ==
               R"(["news","events"])");
    BOOST_TEST(attribute_json(AttributeType::MultiChoice, "news, events") ==
               R"(["news","events"])");
    BOOST_TEST(attribute_json(AttributeType::MultiChoice, "a, b; c") == R"(["a, b","c"])");
    BOOST_TEST(attribute_json(AttributeType::MultiChoice, "news") == R"(["news"])");
}

BOOST_AUTO_TEST_CASE(only_numbers_of_every_json_reader_are_numbers) {
    for (const char* text :
         {"0", "-1", "12", "9223372036854775807", "1.50", "-0.5", "1e3", "1.5E-7"}) {
        BOOST_TEST(attribute_json(AttributeType::Number, text) == text);
    }
    for (const char* text : {"", "-", "+1", "007", "1,5", ".5", "1.", "1e", "1e+", "0x10", "NaN",
                             "inf", "1e999", "9223372036854775808", "1 000", "12a"}) {
        BOOST_TEST(attribute_json(AttributeType::Number, text) == "\"" + std::string(text) + "\"");
    }
}

BOOST_AUTO_TEST_CASE(values_that_the_server_rejects_with_a_chunk_are_rejected_here) {
    BOOST_TEST(code({"Email", "Phone"}, {"", "1"}) == "LOCAL_REQUIRED");
    BOOST_TEST(code({"Email"}, {"broken"}) == "LOCAL_INVALID_EMAIL");
    BOOST_TEST(code({"Email", "Birthday"}, {"a@example.org", "1990-02-30"}) ==
               "LOCAL_INVALID_DATE");
    BOOST_TEST(code({"Email", "Birthday"}, {"a@example.org", "2026-11-20"}) ==
               "LOCAL_INVALID_DATE");
    BOOST_TEST(code({"Email", "Country"}, {"a@example.org", "UK"}) == "LOCAL_INVALID_COUNTRY");
    BOOST_TEST(code({"Email", "First Name"}, {"a@example.org", std::string(256, 'x')}) ==
               "LOCAL_TOO_LONG");
    BOOST_TEST(code({"Email", "Birthday"}, {"a@example.org", "1990-\x01z"}) ==
               "LOCAL_INVALID_VALUE");
    BOOST_TEST(code({"Email", "Phone"}, {"a@example.org", std::string(4097, '1')}) ==
               "LOCAL_TOO_LONG");
    BOOST_TEST(code({"Email", "First Name"}, {"a@example.org", "M\xFCller"}) ==
               "LOCAL_INVALID_UTF8");
    BOOST_TEST(code({"Email"}, {"a@example.org", "one more"}) == "LOCAL_TOO_MANY_CELLS");
    BOOST_TEST(code({"Email"}, {"a@example.org", " "}) == "");
    BOOST_TEST(code({"Email", "Notes"}, {"a@example.org", "M\xFCller"}) == "");
}

BOOST_AUTO_TEST_CASE(an_invalid_choice_is_left_to_the_dry_run) {
    BOOST_TEST(code({"Email", "Shirt Size"}, {"a@example.org", "XXS"}) == "");
}

BOOST_AUTO_TEST_CASE(a_rejected_record_keeps_its_cells_for_the_report) {
    const Converted converted =
        convert({"Email", "Birthday", "Phone"}, {"Ann@Example.org", "30.2.1990", "123"});
    BOOST_TEST(converted.refusal->message ==
               "Birthday is \"30.2.1990\"; use YYYY-MM-DD, from 1900-01-01 to yesterday");
    BOOST_TEST(converted.fields.dob == "30.2.1990");
    BOOST_TEST(converted.fields.attributes == R"({"phone":"123"})");
    BOOST_TEST(convert({"Email"}, {"M\xFCller"}).fields.email == "M\xEF\xBF\xBDller");
}

BOOST_AUTO_TEST_CASE(a_column_of_json_attributes_is_expanded) {
    const Converted converted =
        convert({"email", "attributes", "Phone"},
                {"a@example.org", R"({"phone":"1","score":4.5,"vip":true,"joined":null})", "2"});
    BOOST_TEST(converted.fields.attributes == R"({"phone":"2","score":4.5,"vip":true})");
    BOOST_TEST(code({"email", "attributes"}, {"a@example.org", "[1]"}) == "LOCAL_WRONG_TYPE");
    BOOST_TEST(code({"email", "attributes"}, {"a@example.org", "{"}) == "LOCAL_WRONG_TYPE");
}

BOOST_AUTO_TEST_SUITE_END()
