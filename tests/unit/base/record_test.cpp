// base/record.hpp: one list defines how a reply's record is written and described.
#include "base/record.hpp"

#include "json/json_body.hpp"

#include "print.hpp"

#include <optional>
#include <string>
#include <vector>

namespace {

enum class Paint { Red, Blue };

struct Specimen {
    std::string name = "a \"name\"\n";
    std::int64_t count = -5;
    bool is_good = true;
    muster::OrgId id;
    muster::Timestamp when{0};
    Paint color = Paint::Blue;
    std::optional<std::string> note;
    std::optional<Paint> other;
    std::optional<std::int64_t> number;
    std::vector<std::string> tags;
    std::vector<std::vector<std::int64_t>> table;
    muster::RawJson raw{R"({"any":1})"};
};

}  // namespace

template <>
inline constexpr std::array muster::kNames<Paint> = {muster::Name{Paint::Red, "red"},
                                                     muster::Name{Paint::Blue, "blue"}};

namespace {

using muster::field;
using muster::record;
using muster::to_json;

constexpr auto kSpecimen = record<Specimen>(
    "Specimen", field<&Specimen::name>("name", "The name."),
    field<&Specimen::count>("count", "The count."),
    field<&Specimen::is_good>("is_good", "The is_good."), field<&Specimen::id>("id", "The id."),
    field<&Specimen::when>("when", "The when."), field<&Specimen::color>("color", "The color."),
    field<&Specimen::note>("note", "The note."), field<&Specimen::other>("other", "The other."),
    field<&Specimen::number>("number", "The number."), field<&Specimen::tags>("tags", "The tags."),
    field<&Specimen::table>("table", "The table."), field<&Specimen::raw>("raw", "The raw."));

std::string schema_of(const char* property) {
    Json::Value schema = kSpecimen.schema()["properties"][property];
    BOOST_TEST(schema["description"].asString() == "The " + std::string(property) + ".");
    schema.removeMember("description");
    return muster::json_text(schema);
}

std::string example_of(const Json::Value& schema, std::string_view example) {
    return muster::json_text(muster::described(schema, "", example)["examples"]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(every_field_is_written_in_list_order) {
    Specimen thing;
    BOOST_TEST(to_json(kSpecimen, thing) ==
               R"({"name":"a \"name\"\n","count":-5,"is_good":true,)"
               R"("id":"00000000-0000-0000-0000-000000000000","when":"1970-01-01T00:00:00.000Z",)"
               R"("color":"blue","note":null,"other":null,"number":null,"tags":[],"table":[],)"
               R"("raw":{"any":1}})");
    thing.note = "";
    thing.other = Paint::Red;
    thing.number = 0;
    thing.tags = {"x", "y"};
    thing.table = {{1, 2}, {}};
    const std::string text = to_json(kSpecimen, thing);
    BOOST_TEST(
        text.find(R"("note":"","other":"red","number":0,"tags":["x","y"],"table":[[1,2],[]])") !=
        std::string::npos);
    (void)muster::json::JsonBody(text);
}

BOOST_AUTO_TEST_CASE(the_schema_requires_every_field_and_only_these) {
    const Json::Value schema = kSpecimen.schema();
    BOOST_TEST(schema["type"].asString() == "object");
    BOOST_TEST(!schema.isMember("additionalProperties"));  // later versions may add fields
    BOOST_TEST(schema["title"].asString() == "Specimen");
    BOOST_TEST(schema["properties"].size() == 12U);
    BOOST_TEST(schema["required"].size() == 12U);
    BOOST_TEST(schema["required"][0].asString() == "name");
    Json::Value written;
    BOOST_TEST_REQUIRE(muster::parse_json(to_json(kSpecimen, Specimen{}), written));
    BOOST_TEST(written.getMemberNames() == schema["properties"].getMemberNames());
}

BOOST_AUTO_TEST_CASE(each_type_is_described) {
    BOOST_TEST(schema_of("name") == R"({"type":"string"})");
    BOOST_TEST(schema_of("count") == R"({"type":"integer"})");
    BOOST_TEST(schema_of("is_good") == R"({"type":"boolean"})");
    BOOST_TEST(schema_of("id") == R"({"format":"uuid","type":"string"})");
    BOOST_TEST(schema_of("when") == R"({"format":"date-time","type":"string"})");
    BOOST_TEST(schema_of("color") == R"({"enum":["red","blue"],"type":"string"})");
    BOOST_TEST(schema_of("note") == R"({"type":["string","null"]})");
    BOOST_TEST(schema_of("number") == R"({"type":["integer","null"]})");
    BOOST_TEST(schema_of("other") ==
               R"({"anyOf":[{"enum":["red","blue"],"type":"string"},{"type":"null"}]})");
    BOOST_TEST(schema_of("tags") == R"({"items":{"type":"string"},"type":"array"})");
    BOOST_TEST(schema_of("table") ==
               R"({"items":{"items":{"type":"integer"},"type":"array"},"type":"array"})");
    BOOST_TEST(schema_of("raw") == R"({"additionalProperties":{},"type":"object"})");
}

BOOST_AUTO_TEST_CASE(an_example_is_text_or_one_json_value) {
    const Json::Value number = muster::JsonType<std::int64_t>::schema();
    BOOST_TEST(example_of(number, "-5") == "[-5]");
    BOOST_TEST(example_of(muster::array_of_schema(number), "[1, 2]") == "[[1,2]]");
    BOOST_TEST(example_of(muster::JsonType<std::string>::schema(), "5") == R"(["5"])");
    for (const std::string_view text : {"five", "1, 2", "1]"}) {
        BOOST_CHECK_THROW((void)example_of(number, text), std::logic_error);
    }
}

BOOST_AUTO_TEST_SUITE_END()
