// json/schema.hpp: what a body may contain, the exact path of every fault, and a printed schema
// that allows exactly the accepted bodies.
#include "json/schema.hpp"

#include "base/ids.hpp"
#include "base/json.hpp"
#include "json/json_body.hpp"
#include "unit/json/decoding.hpp"
#include "unit/json/json_schema.hpp"

#include "print.hpp"

#include <random>
#include <string>
#include <vector>

using muster::test::decoded;
using muster::test::faults;
using muster::test::Texts;
namespace json = muster::json;

namespace {

struct Inner {
    std::string word;
    std::vector<std::int64_t> numbers;
};
struct Outer {
    std::string name = "default";
    std::int64_t count = -99;
    bool flag = false;
    std::optional<bool> maybe;
    std::optional<std::string> note;
    std::vector<Inner> list;
    Inner inner;
};

constexpr auto kInner =
    json::object<Inner>(json::required("word", &Inner::word, json::Text{2, 4}, "The word."),
                        json::optional("numbers", &Inner::numbers,
                                       json::array_of(json::Integer{0, 9}, 0, 3), "The numbers."));
constexpr auto kOuter = json::object<Outer>(
    json::required("name", &Outer::name, json::Text{1, 5}, "The name."),
    json::optional("count", &Outer::count, json::Integer{-3, 7}, "The count."),
    json::optional("flag", &Outer::flag, json::Boolean{}, "The flag."),
    json::optional("maybe", &Outer::maybe, json::Boolean{}, "The maybe."),
    json::optional("note", &Outer::note, json::Text{0, 3}, "The note."),
    json::optional("list", &Outer::list, json::array_of(kInner, 1, 2), "The list."),
    json::optional("inner", &Outer::inner, kInner, "The inner."));

Texts outer(const std::string& text) {
    return faults(kOuter, text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema)

// ---------------------------------------------------------------------------- values

BOOST_AUTO_TEST_CASE(a_valid_body_becomes_a_value) {
    const Outer value = decoded(
        kOuter, R"({"name":" Ann ","count":7,"flag":true,"maybe":false,"note":"",)"
                R"("list":[{"word":"ab"},{"word":"abcd","numbers":[0,9]}],"inner":{"word":"xy"}})");
    BOOST_TEST(value.name == "Ann");
    BOOST_TEST(value.count == 7);
    BOOST_TEST(value.flag);
    BOOST_TEST(value.maybe == false);
    BOOST_TEST(value.note == "");
    BOOST_TEST_REQUIRE(value.list.size() == 2);
    BOOST_TEST(value.list[1].word == "abcd");
    BOOST_TEST(value.list[1].numbers == (std::vector<std::int64_t>{0, 9}));
    BOOST_TEST(value.inner.word == "xy");
}

BOOST_AUTO_TEST_CASE(absent_and_null_members_keep_their_defaults) {
    for (const std::string text :
         {R"({"name":"x"})",
          R"({"name":"x","count":null,"flag":null,"maybe":null,"note":null,"list":null})"}) {
        const Outer value = decoded(kOuter, text);
        BOOST_TEST(value.count == -99);
        BOOST_TEST(!value.maybe.has_value());
        BOOST_TEST(!value.note.has_value());
        BOOST_TEST(value.list.empty());
    }
}

// ---------------------------------------------------------------------------- faults

BOOST_AUTO_TEST_CASE(every_type_reports_its_faults_by_path) {
    const std::vector<std::pair<std::string, Texts>> table = {
        {R"([])", {" wrong_type"}},
        {R"("x")", {" wrong_type"}},
        {R"(null)", {" wrong_type"}},
        {R"({})", {"name required"}},
        {R"({"name":null})", {"name required"}},
        {R"({"name":""})", {"name required"}},
        {R"({"name":" \t\n "})", {"name required"}},
        {R"({"name":"\u200b\u00a0"})", {"name required"}},
        {R"({"name":"a\u0085b"})", {"name invalid_value"}},
        {R"({"name":"a\u2028b"})", {"name invalid_value"}},
        {R"({"name":1})", {"name wrong_type"}},
        {R"({"name":["x"]})", {"name wrong_type"}},
        {R"({"name":"sixchr"})", {"name too_long"}},
        {R"({"name":"a\u0001b"})", {"name invalid_value"}},
        {R"({"name":"a\u0000b"})", {"name invalid_value"}},
        {R"({"name":"a\u007fb"})", {"name invalid_value"}},
        {R"({"name":"x","count":"1"})", {"count wrong_type"}},
        {R"({"name":"x","count":1.5})", {"count wrong_type"}},
        {R"({"name":"x","count":true})", {"count wrong_type"}},
        {R"({"name":"x","count":8})", {"count out_of_range"}},
        {R"({"name":"x","count":-4})", {"count out_of_range"}},
        {R"({"name":"x","count":9223372036854775808})", {"count out_of_range"}},
        {R"({"name":"x","flag":"true"})", {"flag wrong_type"}},
        {R"({"name":"x","flag":1})", {"flag wrong_type"}},
        {R"({"name":"x","note":"four"})", {"note too_long"}},
        {R"({"name":"x","list":{}})", {"list wrong_type"}},
        {R"({"name":"x","list":[]})", {"list too_short"}},
        {R"({"name":"x","list":[1,2,3]})", {"list too_long"}},
        {R"({"name":"x","list":[1]})", {"list[0] wrong_type"}},
        {R"({"name":"x","list":[null]})", {"list[0] wrong_type"}},
        {R"({"name":"x","list":[{"word":"ab"},{}]})", {"list[1].word required"}},
        {R"({"name":"x","list":[{"word":"a"}]})", {"list[0].word too_short"}},
        {R"({"name":"x","list":[{"word":"ab","numbers":[1,10,"2"]}]})",
         {"list[0].numbers[1] out_of_range", "list[0].numbers[2] wrong_type"}},
        {R"({"name":"x","inner":{"word":"ab","more":1}})", {"inner.more unknown_field"}},
        {R"({"name":"x","Name":"y"})", {"Name unknown_field"}},
        {R"({"name":"x","more":null})", {"more unknown_field"}},
        {R"({"count":"x","more":1,"inner":{"numbers":5}})",
         {"count wrong_type", "more unknown_field", "inner.numbers wrong_type",
          "inner.word required", "name required"}},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(outer(text) == expected, text);
}

BOOST_AUTO_TEST_CASE(lengths_are_counted_in_characters_after_trimming) {
    BOOST_TEST(outer("{\"name\":\"  \u00e4\u00f6\u00fc\u4e2d\U0001f600  \"}") == Texts());
    BOOST_TEST(outer("{\"name\":\"\u00e4\u00f6\u00fc\u4e2d\U0001f600x\"}") ==
               Texts{"name too_long"});
}

BOOST_AUTO_TEST_CASE(an_unknown_key_is_reported_and_truncated) {
    std::string umlauts;
    for (int i = 0; i < 40; ++i) umlauts += "\u00e4";
    const Texts found =
        outer("{\"name\":\"x\",\"" + std::string(1000, 'k') + "\":1,\"x" + umlauts + "\":1}");
    BOOST_TEST_REQUIRE(found.size() == 2);
    BOOST_TEST(found[0] == std::string(64, 'k') + " unknown_field");
    BOOST_TEST(found[1] == "x" + umlauts.substr(0, 62) + " unknown_field");
}

BOOST_AUTO_TEST_CASE(at_most_a_hundred_faults_are_reported) {
    std::string entries;
    for (int i = 0; i < 300; ++i) entries += i ? ",1" : "1";
    struct List {
        std::vector<std::string> all;
    };
    static constexpr auto kList = json::object<List>(
        json::required("all", &List::all, json::array_of(json::Text{1, 5}, 1, 1000), "The all."));
    const Texts found = faults(kList, "{\"all\":[" + entries + "]}");
    BOOST_TEST_REQUIRE(found.size() == 100);
    BOOST_TEST(found.front() == "all[0] wrong_type");
    BOOST_TEST(found.back() == "all[99] wrong_type");
}

// ---------------------------------------------------------------------------- the printed schema

BOOST_AUTO_TEST_CASE(the_schema_is_printed_as_json_schema) {
    BOOST_TEST(
        muster::json_text(kInner.schema()) ==
        R"({"additionalProperties":false,"properties":{"numbers":{"description":"The numbers.",)"
        R"("items":{"maximum":9,"minimum":0,"type":"integer"},"maxItems":3,)"
        R"("type":["array","null"]},"word":{"description":"The word.","maxLength":4,)"
        R"("minLength":2,"type":"string"}},"required":["word"],"type":"object"})");
}

BOOST_AUTO_TEST_CASE(the_schema_allows_exactly_the_accepted_bodies) {
    const Json::Value schema = kOuter.schema();
    const muster::test::SchemaCheck check;
    const Texts values = {"null",
                          "\"\"",
                          "\"a\"",
                          "\"ab\"",
                          "\"abcd\"",
                          "\"abcde\"",
                          "\"abcdef\"",
                          "-4",
                          "-3",
                          "7",
                          "8",
                          "1.5",
                          "true",
                          "false",
                          "[]",
                          "{}",
                          "[1]",
                          "[{\"word\":\"ab\"}]",
                          "{\"word\":\"ab\"}",
                          "{\"word\":\"a\"}",
                          "{\"word\":\"ab\",\"x\":1}",
                          "[{\"word\":\"ab\"},{\"word\":\"abcd\",\"numbers\":[0,9,5]}]",
                          "{\"word\":\"ab\",\"numbers\":[0,10]}",
                          "{\"word\":\"ab\",\"numbers\":null}",
                          "{\"word\":\"ab\",\"numbers\":[1,2,3,4]}",
                          "[{\"word\":\"ab\"},{\"word\":\"ab\"},{\"word\":\"ab\"}]"};
    const Texts names = {"name", "count", "flag", "maybe", "note", "list", "inner", "more"};
    std::mt19937 random(3);
    const auto roll = [&](std::size_t sides) { return random() % sides; };
    int accepted = 0;
    for (int i = 0; i < 40'000; ++i) {
        std::string text =
            "\"name\":" + (roll(4) ? std::string("\"ok\"") : values[roll(values.size())]);
        for (std::size_t name = 1; name < names.size(); ++name) {
            if (roll(3) == 0 && (name < 7 || roll(4) == 0)) {
                text += ",\"" + names[name] + "\":" + values[roll(values.size())];
            }
        }
        text = "{" + text + "}";
        Json::Value value;
        BOOST_TEST_REQUIRE(muster::parse_json(text, value), text);
        const bool is_accepted = outer(text).empty();
        accepted += is_accepted ? 1 : 0;
        if (check.allows(schema, value) != is_accepted) BOOST_ERROR(text);
    }
    BOOST_TEST(accepted > 1000);
}

// --------------------------------------------------------------------------- addresses, codes, ids

namespace {

struct Typed {
    std::string email;
    std::string code;
    muster::Timestamp when;
    muster::OrgId id;
    std::optional<muster::Timestamp> until;
};
constexpr auto kTyped =
    json::object<Typed>(json::optional("email", &Typed::email, json::Email{}, "The email."),
                        json::optional("code", &Typed::code, json::Digits{6}, "The code."),
                        json::optional("when", &Typed::when, json::Instant{}, "The when."),
                        json::optional("id", &Typed::id, json::Uuid<muster::OrgId>{}, "The id."),
                        json::optional("until", &Typed::until, json::Instant{}, "The until."));

Texts typed(const std::string& name, const std::string& json) {
    return faults(kTyped, "{\"" + name + "\":" + json + "}");
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_address_is_trimmed_and_converted_to_lower_case) {
    BOOST_TEST(decoded(kTyped, R"({"email":" Ada@Example.ORG\n"})").email == "ada@example.org");
    for (const std::string bad : {"\"x\"", "\"a@\"", "\"@b.org\"", "\"a b@c.org\"",
                                  "\"a@b.org,c@d.org\"", "\"a@b@c.org\"", "\"<a@b.org>\""}) {
        BOOST_TEST(typed("email", bad) == Texts{"email invalid_email"}, bad);
    }
    for (const std::string bad : {"\"a@b.org\\u0000\"", "\"a@b.org\\r\\nBcc: c@d.org\""}) {
        BOOST_TEST(typed("email", bad) == Texts{"email invalid_value"}, bad);
    }
    BOOST_TEST(typed("email", "\" \"") == Texts{"email required"});
    for (const std::string other : {"1", "true", "{}", "[\"a@b.org\"]"}) {
        BOOST_TEST(typed("email", other) == Texts{"email wrong_type"}, other);
    }
    BOOST_TEST(muster::json_text(json::Email{}.schema()) ==
               R"({"format":"email","maxLength":254,"minLength":1,"type":"string"})");
}

BOOST_AUTO_TEST_CASE(a_code_is_a_text_of_a_fixed_number_of_digits) {
    BOOST_TEST(decoded(kTyped, R"({"code":" 012345\t"})").code == "012345");
    BOOST_TEST(typed("code", "\"12345\"") == Texts{"code too_short"});
    BOOST_TEST(typed("code", "\"\"") == Texts{"code too_short"});
    BOOST_TEST(typed("code", "\"1234567\"") == Texts{"code too_long"});
    BOOST_TEST(decoded(kTyped, R"({"code":"012 345"})").code == "012345");
    BOOST_TEST(typed("code", "\"12 456\"") == Texts{"code too_short"});
    for (const std::string bad :
         {"\"-12345\"", "\"0x1234\"", "\"12345a\"", "\"12\\u0000456\"", "\"\u0661\u0662\u0663\""}) {
        BOOST_TEST(typed("code", bad) == Texts{"code invalid_value"}, bad);
    }
    for (const std::string other : {"123456", "[]", "false"}) {
        BOOST_TEST(typed("code", other) == Texts{"code wrong_type"}, other);
    }
    BOOST_TEST(muster::json_text(json::Digits{6}.schema()) ==
               R"({"pattern":"^\\s*([0-9]\\s*){6}$","type":"string"})");
}

BOOST_AUTO_TEST_CASE(a_whole_number_may_be_written_with_a_fraction_or_an_exponent) {
    for (const std::string whole : {"3.0", "3e0", "0.3e1", "30e-1"}) {
        BOOST_TEST(decoded(kOuter, R"({"name":"x","count":)" + whole + "}").count == 3, whole);
    }
    BOOST_TEST(decoded(kOuter, R"({"name":"x","count":-0.0})").count == 0);
    BOOST_TEST(outer(R"({"name":"x","count":8.0})") == Texts{"count out_of_range"});
    for (const std::string other : {"3.5", "1e300", "-1e300", "9007199254740994.0"}) {
        BOOST_TEST(outer(R"({"name":"x","count":)" + other + "}") == Texts{"count wrong_type"},
                   other);
    }
}

BOOST_AUTO_TEST_CASE(a_fault_has_what_the_field_accepts) {
    const auto limits = [](const std::string& text) {
        json::Decoding to;
        Outer value;
        const json::JsonBody body(text);
        kOuter.decode(body.root(), json::Path(), to, value);
        BOOST_TEST_REQUIRE(to.faults.list().size() == 1U, text);
        return to.faults.list().front();
    };
    const auto range = limits(R"({"name":"x","count":8})");
    BOOST_TEST((range.limits.minimum == -3 && range.limits.maximum == 7));
    BOOST_TEST(range.message == "is out of range; use -3 to 7");
    const auto longer = limits(R"({"name":"123456"})");
    BOOST_TEST((longer.limits.max_length == 5));
    BOOST_TEST(longer.message == "is too long; the maximum is 5");
    BOOST_TEST((limits(R"({"name":"x","list":[]})").limits.min_length == 1));
    BOOST_TEST((limits(R"({"name":"x","list":[1,2,3]})").limits.max_length == 2));
}

BOOST_AUTO_TEST_CASE(a_timestamp_has_an_offset) {
    const auto read = decoded(kTyped, R"({"when":"2026-11-20T10:00:00+02:00","until":null})");
    BOOST_TEST(read.when.text() == "2026-11-20T08:00:00.000Z");
    BOOST_TEST(!read.until.has_value());
    BOOST_TEST(decoded(kTyped, R"({"until":"2026-11-20T10:00:00.5Z"})").until->text() ==
               "2026-11-20T10:00:00.500Z");
    for (const std::string bad :
         {"\"\"", "\"2026-11-20\"", "\"2026-11-20T10:00:00\"", "\"2026-02-30T10:00:00Z\"",
          "\"1969-12-31T23:59:59Z\"", "\"now\""}) {
        BOOST_TEST(typed("when", bad) == Texts{"when invalid_timestamp"}, bad);
    }
    BOOST_TEST(typed("when", "1763632800") == Texts{"when wrong_type"});
    BOOST_TEST(muster::json_text(json::Instant{}.schema()) ==
               R"({"format":"date-time","type":"string"})");
}

BOOST_AUTO_TEST_CASE(an_id_is_a_uuid) {
    const auto id = muster::OrgId::create();
    BOOST_TEST(decoded(kTyped, "{\"id\":\"" + id.text() + "\"}").id == id);
    for (const std::string& bad :
         {std::string("\"\""), std::string("\"1\""), "\"{" + id.text() + "}\"",
          "\"" + id.text() + " \"", "\"" + id.text().substr(1) + "\""}) {
        BOOST_TEST(typed("id", bad) == Texts{"id invalid_uuid"}, bad);
    }
    BOOST_TEST(typed("id", "7") == Texts{"id wrong_type"});
    BOOST_TEST(muster::json_text(json::Uuid<muster::OrgId>{}.schema()) ==
               R"({"format":"uuid","type":"string"})");
}

BOOST_AUTO_TEST_CASE(a_change_distinguishes_absent_and_cleared_members) {
    struct Change {
        std::optional<std::optional<std::int64_t>> limit;
    };
    static constexpr auto kChange = json::object<Change>(
        json::clearable("limit", &Change::limit, json::Integer{1, 9}, "The limit."));
    const auto limit = [](const char* body) { return decoded(kChange, body).limit; };
    BOOST_TEST(!limit("{}").has_value());
    BOOST_TEST_REQUIRE(limit(R"({"limit": null})").has_value());
    BOOST_TEST(!limit(R"({"limit": null})")->has_value());
    BOOST_TEST(limit(R"({"limit": 7})")->value() == 7);
    BOOST_TEST(faults(kChange, R"({"limit": 10})") == Texts{"limit out_of_range"});
    BOOST_TEST(kChange.schema()["properties"]["limit"]["type"][1].asString() == "null");
}

BOOST_AUTO_TEST_CASE(null_is_a_fault_of_a_field_that_cannot_be_cleared) {
    struct Change {
        std::optional<std::int64_t> weight;
    };
    static constexpr auto kChange = json::object<Change>(
        json::changeable("weight", &Change::weight, json::Integer{1, 9}, "The weight."));
    BOOST_TEST(!decoded(kChange, "{}").weight.has_value());
    BOOST_TEST((decoded(kChange, R"({"weight": 7})").weight == 7));
    BOOST_TEST(faults(kChange, R"({"weight": null})") == Texts{"weight required"});
    BOOST_TEST(kChange.schema()["properties"]["weight"]["type"].asString() == "integer");
    BOOST_TEST(!kChange.schema().isMember("required"));
}

BOOST_AUTO_TEST_SUITE_END()
