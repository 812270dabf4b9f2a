// client/convert.hpp: converting the cells of a record to a payload.
#include "client/convert.hpp"

#include "client/format_guess.hpp"
#include "rules/attributes.hpp"

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

Converted convert(const std::vector<std::string>& header, const std::vector<std::string>& cells,
                  const FormatOptions& options = {}, bool rejects_bad_values = false) {
    const auto routes = route_columns(unique_column_names(header), {}, shared_registry());
    FormatGuess guess(routes, shared_registry(), options);
    guess.add(cells);
    const Converter converter(
        {routes, guess.formats(), *Date::parse("2026-11-20"), rejects_bad_values},
        shared_registry());
    return converter.convert(cells);
}

const FormatOptions kStrictFormats = {"", {}, true};

// The codes of all faults; ! after those that refuse the record.
std::string code(const std::vector<std::string>& header, const std::vector<std::string>& cells,
                 const FormatOptions& options = {}) {
    std::string text;
    for (const RowFault& fault : convert(header, cells, options).faults)
        text += (text.empty() ? "" : " ") + fault.code + (fault.is_refusal ? "!" : "");
    return text;
}

// The JSON of one attribute; "-" for a fault.
std::string attribute(const std::string& column, const std::string& cell,
                      const FormatOptions& options = {}) {
    const Converted converted = convert({"Email", column}, {"a@example.org", cell}, options);
    const std::string& json = converted.fields.attributes;
    return json.empty() ? "-" : json.substr(json.find(':') + 1, json.size() - json.find(':') - 2);
}

std::string message(const std::string& column, const std::string& cell) {
    const Converted converted = convert({"Email", column}, {"a@example.org", cell});
    return converted.faults.empty() ? "" : converted.faults[0].message();
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
    BOOST_TEST(converted.faults.empty());
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

BOOST_AUTO_TEST_CASE(values_are_converted_to_the_types_of_the_api) {
    const Converted converted = convert(
        {"Email", "Birthday", "Country", "Score", "VIP", "Joined", "Shirt Size", "Interests"},
        {"a@example.org", "31.12.1999", "Österreich", "1.234,50", "oui", "07.03.2020", "m",
         "News; events; news"});
    BOOST_TEST(row_json(converted) ==
               R"({"rowNumber":7,"payload":{"email":"a@example.org","country":"AT",)"
               R"("dob":"1999-12-31","attributes":{"score":1234.50,"vip":true,)"
               R"("joined":"2020-03-07","shirt_size":"M","interests":["news","events"]}}})");
}

BOOST_AUTO_TEST_CASE(strict_accepts_the_forms_of_the_api_only) {
    BOOST_TEST(code({"Email", "Birthday"}, {"a@example.org", "31.12.1999"}, kStrictFormats) ==
               "LOCAL_INVALID_DATE");
    BOOST_TEST(code({"Email", "Country"}, {"a@example.org", "Austria"}, kStrictFormats) ==
               "LOCAL_INVALID_COUNTRY");
    const Converted named =
        convert({"Email", "Country"}, {"a@example.org", "Austria"}, kStrictFormats);
    BOOST_TEST(named.faults[0].message() ==
               "Country is \"Austria\"; use an ISO 3166-1 alpha-2 code, such as GB");
    BOOST_TEST(attribute("Score", "12,5", kStrictFormats) == "-");
    BOOST_TEST(attribute("Score", "12.5", kStrictFormats) == "12.5");
    BOOST_TEST(attribute("Joined", "31.12.1999", kStrictFormats) == "-");
    BOOST_TEST(attribute("Joined", "1999-12-31", kStrictFormats) == "\"1999-12-31\"");
    BOOST_TEST(attribute("VIP", "oui", kStrictFormats) == "-");
    BOOST_TEST(attribute("VIP", "Ja", kStrictFormats) == "true");
    BOOST_TEST(attribute("Shirt Size", "m", kStrictFormats) == "-");
    BOOST_TEST(attribute("Interests", "news|events", kStrictFormats) == R"(["news","events"])");
}

BOOST_AUTO_TEST_CASE(the_first_of_several_addresses_is_the_address) {
    const std::string cell = "a@example.org ::: b@example.org";
    BOOST_TEST(convert({"Email"}, {cell}).fields.email == "a@example.org");
    BOOST_TEST(code({"Email"}, {cell}, kStrictFormats) == "LOCAL_INVALID_EMAIL!");
}

BOOST_AUTO_TEST_CASE(a_zero_date_is_an_absent_value) {
    const Converted converted =
        convert({"Email", "Birthday", "Joined"}, {"a@example.org", "0/0/00", "0000-00-00"});
    BOOST_TEST(converted.faults.empty());
    BOOST_TEST(row_json(converted) == R"({"rowNumber":7,"payload":{"email":"a@example.org"}})");
}

BOOST_AUTO_TEST_CASE(a_bad_value_is_left_out_and_a_bad_address_refuses_the_record) {
    const std::string mail = "a@example.org";
    BOOST_TEST(code({"Email", "Phone"}, {"", "1"}) == "LOCAL_REQUIRED!");
    BOOST_TEST(code({"Email"}, {"broken"}) == "LOCAL_INVALID_EMAIL!");
    BOOST_TEST(code({"Email"}, {"M\xFCller"}) == "LOCAL_INVALID_UTF8!");
    BOOST_TEST(code({"Email"}, {mail, "one more"}) == "LOCAL_TOO_MANY_CELLS!");
    BOOST_TEST(code({"Email"}, {"", "one more"}) == "LOCAL_TOO_MANY_CELLS! LOCAL_REQUIRED!");
    BOOST_TEST(code({"Email"}, {mail, " "}) == "");
    BOOST_TEST(code({"Email", "Birthday"}, {mail, "1990-02-30"}) == "LOCAL_INVALID_DATE");
    BOOST_TEST(code({"Email", "Birthday"}, {mail, "2026-11-20"}) == "LOCAL_INVALID_DATE");
    BOOST_TEST(code({"Email", "Country"}, {mail, "Atlantis"}) == "LOCAL_INVALID_COUNTRY");
    BOOST_TEST(code({"Email", "First Name"}, {mail, std::string(256, 'x')}) == "LOCAL_TOO_LONG");
    BOOST_TEST(code({"Email", "Country"}, {mail, "Atl\x01s"}) == "LOCAL_INVALID_VALUE");
    BOOST_TEST(code({"Email", "Phone"}, {mail, std::string(4097, '1')}) == "LOCAL_TOO_LONG");
    BOOST_TEST(code({"Email", "First Name"}, {mail, "M\xFCller"}) == "LOCAL_INVALID_UTF8");
    BOOST_TEST(code({"Email", "Notes"}, {mail, "M\xFCller"}) == "");
    BOOST_TEST(code({"Email", "Score"}, {mail, "many"}) == "LOCAL_INVALID_NUMBER");
    BOOST_TEST(code({"Email", "VIP"}, {mail, "maybe"}) == "LOCAL_INVALID_BOOLEAN");
    BOOST_TEST(code({"Email", "Shirt Size"}, {mail, "XXS"}) == "LOCAL_INVALID_CHOICE");
    BOOST_TEST(code({"Email", "Interests"}, {mail, "news;cats"}) == "LOCAL_INVALID_CHOICE");
    BOOST_TEST(code({"Email", "Joined"}, {mail, "soon"}) == "LOCAL_INVALID_DATE");
}

BOOST_AUTO_TEST_CASE(all_faults_of_a_record_are_found_and_the_other_values_are_sent) {
    const Converted converted = convert({"Email", "Birthday", "Country", "Score", "First Name"},
                                        {"a@example.org", "04/17", "Atlantis", "1,234", "Ann"});
    BOOST_REQUIRE(converted.faults.size() == 3);
    BOOST_TEST(!converted.is_refused());
    BOOST_TEST(row_json(converted) ==
               R"({"rowNumber":7,"payload":{"email":"a@example.org","first_name":"Ann"}})");
    BOOST_TEST(convert({"Email", "Birthday"}, {"a@example.org", "04/17"}, {}, true).is_refused());
}

BOOST_AUTO_TEST_CASE(a_fault_names_the_cell_and_what_is_allowed) {
    BOOST_TEST(message("Birthday", "04/17") == "Birthday is \"04/17\"; a date needs a year");
    BOOST_TEST(message("Birthday", "3/7/85") == "Birthday is \"3/7/85\"; a year needs four digits");
    BOOST_TEST(message("Birthday", "30.02.1990") ==
               "Birthday is \"30.02.1990\"; use an existing date as DD.MM.YYYY, or name "
               "another format with --format 'Birthday=FORMAT'");
    BOOST_TEST(message("Birthday", "60") ==
               "Birthday is \"60\"; use an existing date as YYYY-MM-DD, or name another format "
               "with --format 'Birthday=FORMAT'");
    const FormatOptions excel = {"excel", {}, false};
    BOOST_TEST(convert({"Email", "Birthday"}, {"a@example.org", "60"}, excel).faults[0].message() ==
               "Birthday is \"60\"; use a day number of Excel, such as 36526 for 2000-01-01, or "
               "YYYY-MM-DD, or name another format with --format 'Birthday=FORMAT'");
    BOOST_TEST(message("Birthday", "10.12.1815") ==
               "Birthday is \"10.12.1815\"; use an existing date from 1900-01-01 to yesterday");
    BOOST_TEST(message("Country", "Atlantis") ==
               "Country is \"Atlantis\"; use a country's name or its ISO 3166-1 code, such as GB");
    BOOST_TEST(message("Country", "Atlan\x1btis") ==
               "Country is \"Atlan\\x1btis\"; remove its line breaks and control characters");
    BOOST_TEST(message("Shirt Size", "XXS") == "Shirt Size is \"XXS\"; allowed are S, M");
    BOOST_TEST(message("Score", "1,234") ==
               "Score is \"1,234\"; the comma may be a decimal comma: use --format "
               "'Score=decimal-comma' or decimal-point");
    BOOST_TEST(message("First Name", std::string(300, 'x')) ==
               "First Name has 300 bytes; shorten it");
    const Converted missing = convert({"Email", "Phone"}, {"", "1"});
    BOOST_TEST(missing.faults[0].message() == "email is missing; a member needs an address");
}

BOOST_AUTO_TEST_CASE(numbers_are_sent_as_they_are_written) {
    const std::string most(308, '9');
    for (const std::string& number :
         {std::string("9223372036854775808"), std::string("9999999999999999999"),
          std::string("-12345678901234567890123"), most, "-" + most,
          std::string("0.12345678901234567890"), std::string("1.50"), std::string("1E3")}) {
        BOOST_TEST(attribute("Score", number) == number);
        BOOST_TEST(attribute("Score", number, kStrictFormats) == number);
        BOOST_TEST(attribute("attributes", R"({ "score": )" + number + " }") == number);
        BOOST_TEST(attribute("attributes", R"({"other": [)" + number + ", 1]}") ==
                   "[" + number + ",1]");
    }
    BOOST_TEST(attribute("Score", "9,999,999,999,999,999,999") == "9999999999999999999");
    BOOST_TEST(code({"Email", "Score"}, {"a@example.org", most + "9"}) == "LOCAL_INVALID_NUMBER");
    BOOST_TEST(code({"Email", "attributes"}, {"a@example.org", R"({"score":)" + most + "9}"}) ==
               "LOCAL_WRONG_TYPE");
}

BOOST_AUTO_TEST_CASE(a_column_of_json_attributes_is_expanded) {
    const Converted converted =
        convert({"email", "attributes", "Phone"},
                {"a@example.org", R"({"phone":"1","score":4.5,"vip":true,"joined":null})", "2"});
    BOOST_TEST(converted.fields.attributes == R"({"phone":"2","score":4.5,"vip":true})");
    BOOST_TEST(code({"email", "attributes"}, {"a@example.org", "[1]"}) == "LOCAL_WRONG_TYPE");
    BOOST_TEST(code({"email", "attributes"}, {"a@example.org", R"({"vip":true,"vip":true})"}) ==
               "LOCAL_WRONG_TYPE");
    BOOST_TEST(code({"email", "attributes"}, {"a@example.org", "{"}) == "LOCAL_WRONG_TYPE");
}

BOOST_AUTO_TEST_CASE(the_size_of_an_attribute_is_that_of_its_json) {
    const std::string most(4094, 'x');
    BOOST_TEST(attribute("Phone", most) == "\"" + most + "\"");
    for (const std::string& cell :
         {most + "x", most + "xx", std::string(2048, '"'), "a" + std::string(2047, '\n') + "b"}) {
        BOOST_TEST(attribute("Phone", cell) == "-");
        BOOST_TEST(code({"Email", "Phone"}, {"a@example.org", cell}) == "LOCAL_TOO_LONG");
    }
    BOOST_TEST(message("Phone", most + "x") ==
               "Phone has 4,097 bytes as JSON, with its quotes and escapes; shorten it to 4,096");
    std::string accents;
    for (int i = 0; i < 1000; ++i) accents += "\u0958";  // each has 6 bytes when composed
    BOOST_TEST(attribute("Phone", "Ge\u0302ne\u0300ve") == "\"G\u00ean\u00e8ve\"");
    BOOST_TEST(attribute("Phone", accents.substr(0, 3 * 682)) != "-");
    BOOST_TEST(attribute("Phone", accents.substr(0, 3 * 683)) == "-");
    BOOST_TEST(code({"Email", "attributes"},
                    {"a@example.org", R"({"phone":")" + accents.substr(0, 3 * 683) + "\"}"}) ==
               "LOCAL_TOO_LONG");
    std::string choices = "news";
    for (int i = 0; i < 1000; ++i) choices += ";news";
    BOOST_TEST(attribute("Interests", choices) == R"(["news"])");
    BOOST_TEST(code({"Email", "attributes"},
                    {"a@example.org", R"({"phone":")" + most + R"(x","vip":true})"}) ==
               "LOCAL_TOO_LONG");
}

BOOST_AUTO_TEST_CASE(a_value_of_the_wrong_type_in_a_json_cell_is_left_out) {
    const auto convert_cell = [](const std::string& cell) {
        return convert({"Email", "attributes"}, {"a@example.org", cell});
    };
    for (
        const auto& [value, words] : std::initializer_list<std::pair<std::string, std::string>>{
            {R"("phone":{"x":1})", R"(attributes.phone is "{"x":1}"; use a text in quotes)"},
            {R"("phone":[null])", R"(attributes.phone is "[null]"; use a text in quotes)"},
            {R"("phone":7)", R"(attributes.phone is "7"; use a text in quotes)"},
            {R"("score":"7")", R"(attributes.score is ""7""; use a number such as 12.5)"},
            {R"("joined":"31.12.1999")",
             R"(attributes.joined is ""31.12.1999""; use an existing date as YYYY-MM-DD)"},
            {R"("shirt_size":"XXL")", R"(attributes.shirt_size is ""XXL""; allowed are S, M)"},
            {R"("interests":"news")",
             R"(attributes.interests is ""news""; use a list of news, events)"},
            {R"("other":[[1]])",
             R"(attributes.other is "[[1]]"; use a text, a number, true, false or a list of them)"},
        }) {
        BOOST_TEST_CONTEXT(value) {
            const Converted converted = convert_cell("{" + value + R"(,"vip":true})");
            BOOST_TEST(converted.fields.attributes == R"({"vip":true})");
            BOOST_REQUIRE(converted.faults.size() == 1);
            BOOST_TEST(!converted.is_refused());
            BOOST_TEST(converted.faults[0].message() == words);
        }
    }
    BOOST_TEST(convert_cell(R"({"vip":"yes"})").faults.at(0).message() ==
               R"(attributes.vip is ""yes""; use true or false)");
    // The server trims texts, drops empty ones, and rejects unknown keys in the dry run.
    BOOST_TEST(convert_cell(R"({"shirt_size":" M ","phone":" ","interests":[" news "],"no":"x"})")
                   .fields.attributes == R"({"shirt_size":"M","interests":["news"],"no":"x"})");
    BOOST_TEST(convert({"Email", "attributes"}, {"a@example.org", R"({"phone":[null]})"}, {}, true)
                   .is_refused());
}

BOOST_AUTO_TEST_CASE(a_fault_of_a_json_cell_is_named) {
    const auto fault = [](const std::string& cell) {
        const Converted converted = convert({"Email", "attributes"}, {"a@example.org", cell});
        BOOST_REQUIRE(converted.faults.size() == 1);
        BOOST_TEST(converted.faults[0].code == "LOCAL_WRONG_TYPE");
        return converted.faults[0].rule;
    };
    const std::string number = "a number in it is malformed or out of range";
    BOOST_TEST(fault(R"({"points":1e400})") == number);
    BOOST_TEST(fault(R"({"a\\":"1e4\"00","points":)" + std::string(309, '9') + "}") == number);
    BOOST_TEST(fault(R"({"points":1,"points":2})") == "it has a key twice");
    BOOST_TEST(fault("[1]") == "use a JSON object of attributes");
    BOOST_TEST(fault(R"({"points":1)") == "use a JSON object of attributes");
    BOOST_TEST(fault(R"({"points":nan})") == "use a JSON object of attributes");
}

BOOST_AUTO_TEST_SUITE_END()
