// api/endpoint.hpp: compile-time checks of rows, query parsing, cursors bound to their list, and
// pages.
#include "api/answers.hpp"

#include "base/json.hpp"
#include "rules/access/roles.hpp"
#include "service/callers.hpp"
#include "unit/api/offline_context.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using namespace muster;
using api::Call;
using api::Endpoint;
using api::QueryParameter;
using http::Method;

namespace {

http::Reply answer(Call&) {
    return {};
}

constexpr Endpoint row(Method method, std::string_view path, const char* operation) {
    return {.method = method,
            .path = path,
            .operation = operation,
            .summary = "Do it",
            .description = "What it does.",
            .role = muster::rules::Role::Admin,
            .reply = {.meaning = "Done."},
            .handler = {answer, {"application/json"}}};
}

constexpr Endpoint without_operation(Endpoint base) {
    base.operation = "";
    return base;
}
constexpr Endpoint without_summary(Endpoint base) {
    base.summary = "";
    return base;
}
constexpr Endpoint without_description(Endpoint base) {
    base.description = "";
    return base;
}

constexpr Endpoint kOne = row(Method::Get, "/v1/things", "listThings");
constexpr Endpoint kTwo = row(Method::Post, "/v1/things", "createThing");
constexpr Endpoint kUntold = [] {
    Endpoint untold = kOne;
    untold.reply.meaning = "";
    return untold;
}();

constexpr Endpoint kWrittenByViewers = [] {
    Endpoint row = kTwo;
    row.role = muster::rules::Role::Viewer;
    return row;
}();

constexpr Endpoint kWithoutItsBody = [] {
    Endpoint row = kOne;
    row.handler.shape = {};
    return row;
}();
constexpr Endpoint kWithABodyTooMany = [] {
    Endpoint row = kOne;
    row.reply.status = 204;
    return row;
}();

using Two = std::array<Endpoint, 2>;
using One = std::array<Endpoint, 1>;
static_assert(api::well_formed(Two{kOne, kTwo}, "/v1/things"));
static_assert(api::well_formed(std::array<Endpoint, 0>{}, "/v1/things"));
static_assert(!api::well_formed(Two{kOne, kTwo}, "/v1/users"));
static_assert(!api::well_formed(Two{kOne, kOne}, "/v1/things"));
static_assert(!api::well_formed(Two{kOne, row(Method::Get, "/v1/things", "other")}, "/v1/things"));
static_assert(!api::well_formed(Two{kOne, row(Method::Get, "/v1/things/x", "listThings")},
                                "/v1/things"));
static_assert(!api::well_formed(One{without_operation(kOne)}, "/v1/things"));
static_assert(!api::well_formed(One{without_summary(kOne)}, "/v1/things"));
static_assert(!api::well_formed(One{without_description(kOne)}, "/v1/things"));
static_assert(!api::well_formed(One{kUntold}, "/v1/things"));
static_assert(!api::well_formed(One{kWrittenByViewers}, "/v1/things"));
static_assert(!api::well_formed(One{kWithoutItsBody}, "/v1/things"));
static_assert(!api::well_formed(One{kWithABodyTooMany}, "/v1/things"));

// ---- a list

std::string_view color(std::size_t index) {
    constexpr std::array<std::string_view, 2> kColors = {"red", "blue"};
    return index < kColors.size() ? kColors.at(index) : "";
}

constexpr std::array kQuery = {
    QueryParameter{.name = "limit",
                   .kind = QueryParameter::Kind::Integer,
                   .least = 1,
                   .most = 9,
                   .fallback = 2},
    QueryParameter{.name = "cursor", .kind = QueryParameter::Kind::Cursor},
    QueryParameter{.name = "color", .choice = color},
    QueryParameter{.name = "q"},
    QueryParameter{.name = "raw", .kind = QueryParameter::Kind::Flag},
    QueryParameter{.name = "email", .kind = QueryParameter::Kind::Email},
    QueryParameter{.name = "since", .kind = QueryParameter::Kind::Timestamp},
    QueryParameter{.name = "word", .least = 1},
    QueryParameter{.name = "start", .is_prefix = true},
    QueryParameter{.name = "tag", .is_composed = true},
};
constexpr Endpoint kList = [] {
    Endpoint list = kOne;
    list.query = kQuery;
    return list;
}();
constexpr Endpoint kOtherList = [] {
    Endpoint list = kList;
    list.operation = "listOtherThings";
    return list;
}();

using Texts = std::vector<std::string>;

Texts faults(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const Error& error) {
        BOOST_TEST(error.code() == ErrorCode::ValidationError);
        Texts found;
        const Json::Value details = error.details();
        for (const Json::Value& field : details["fields"]) {
            found.push_back(field["path"].asString() + " " + field["code"].asString());
        }
        return found;
    }
}

Texts query_faults(const std::string& query) {
    return faults([&] { (void)api::decode_query(kList, query); });
}

struct ListedThing {
    std::int64_t number = 0;
};
constexpr auto kListedThing =
    record<ListedThing>("Thing", field<&ListedThing::number>("number", "The number."));
constexpr auto kThings = api::list_of<kListedThing>("ThingList", "things");

struct Calls : test::OfflineContext {
    Call call(const std::string& query, const Endpoint& endpoint = kList) {
        return {.request = request,
                .endpoint = endpoint,
                .context = context,
                .worker = worker,
                .caller = caller,
                .parameters = {},
                .query = api::decode_query(endpoint, query),
                .claim = std::nullopt};
    }
    http::Request request;
    OrgId acme = OrgId::create();
    service::Caller caller = [this] {
        service::Caller made;
        made.actor.organization = acme;
        return made;
    }();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(endpoint, Calls)

BOOST_AUTO_TEST_CASE(a_query_is_parsed_by_its_row) {
    const auto values = api::decode_query(kList, "limit=9&color=blue&raw=true&q=a%20b");
    BOOST_TEST(values.integer("limit") == 9);
    BOOST_TEST(values.text("color") == "blue");
    BOOST_TEST(values.text("q") == "a b");
    BOOST_TEST(values.flag("raw"));
    BOOST_TEST(!values.text("cursor").has_value());
    const auto none = api::decode_query(kList, "");
    BOOST_TEST(none.integer("limit") == 2);
    BOOST_TEST(!none.flag("raw"));
    BOOST_TEST(!none.text("color").has_value());
}

BOOST_AUTO_TEST_CASE(every_fault_of_a_query_is_reported_at_once) {
    BOOST_TEST(query_faults("limit=10&color=green&raw=1&x=1") ==
               (Texts{"limit out_of_range", "color invalid_choice", "raw invalid_choice",
                      "x unknown_field"}));
    BOOST_TEST(query_faults("color=") == Texts{"color invalid_choice"});
    BOOST_TEST(query_faults("q=" + std::string(255, 'x')) == Texts());
    BOOST_TEST(query_faults("q=" + std::string(256, 'x')) == Texts{"q too_long"});
    BOOST_TEST(query_faults("cursor=" + std::string(3072, 'x')) == Texts());
    BOOST_TEST(query_faults("cursor=" + std::string(3073, 'x')) == Texts{"cursor too_long"});
    BOOST_TEST(query_faults("limit=1&limit=1") == Texts{"limit duplicate"});
}

BOOST_AUTO_TEST_CASE(addresses_and_times_of_a_query_are_normalized) {
    const auto values =
        api::decode_query(kList, "email=%20Ann@X.Test&since=2026-11-20T11:00:00.5%2B01:00&word=x");
    BOOST_TEST(values.text("email") == "ann@x.test");
    BOOST_TEST(values.text("since") == "2026-11-20T10:00:00.500Z");
    BOOST_TEST(values.timestamp("since")->text() == "2026-11-20T10:00:00.500Z");
    BOOST_TEST(!api::decode_query(kList, "").timestamp("since").has_value());
    BOOST_TEST(query_faults("email=ann&since=2026-11-20&word=") ==
               (Texts{"email invalid_email", "since invalid_timestamp", "word too_short"}));
    BOOST_TEST(query_faults("email=&since=&word=%20") ==
               (Texts{"email too_short", "since invalid_timestamp", "word too_short"}));
    BOOST_TEST(query_faults("email=%20%C2%A0") == Texts{"email too_short"});
}

BOOST_AUTO_TEST_CASE(the_beginning_of_a_text_is_composed_and_keeps_its_spaces) {
    const auto values = api::decode_query(kList, "start=be%CC%81rg%20&word=e%CC%81&tag=%20e%CC%81");
    BOOST_TEST(values.text("start") == "b\u00e9rg ");
    BOOST_TEST(values.text("word") == "e\u0301");
    BOOST_TEST(values.text("tag") == "\u00e9");
}

BOOST_AUTO_TEST_CASE(a_row_without_parameters_rejects_a_query) {
    BOOST_TEST(faults([] { (void)api::decode_query(kOne, "limit=1"); }) ==
               Texts{"limit unknown_field"});
    BOOST_TEST(faults([] { (void)api::decode_query(kOne, ""); }) == Texts());
}

BOOST_AUTO_TEST_CASE(a_cursor_is_accepted_only_by_its_own_list) {
    const std::string cursor = call("color=red&limit=3").seal_cursor("position");
    BOOST_TEST(call("color=red&limit=9&cursor=" + cursor).cursor_position() == "position");
    BOOST_TEST(!call("color=red").cursor_position().has_value());
    const auto refused = [&](const Call& other) {
        return faults([&] { (void)other.cursor_position(); }) == Texts{"cursor invalid_cursor"};
    };
    BOOST_TEST(refused(call("cursor=" + cursor)));
    BOOST_TEST(refused(call("color=blue&cursor=" + cursor)));
    BOOST_TEST(refused(call("color=red&q=x&cursor=" + cursor)));
    BOOST_TEST(refused(call("color=red&email=a@b.cc&cursor=" + cursor)));
    BOOST_TEST(refused(call("color=red&since=2026-11-20T10:00:00Z&cursor=" + cursor)));
    BOOST_TEST(refused(call("color=red&cursor=" + cursor, kOtherList)));
    BOOST_TEST(refused(call("color=red&cursor=x" + cursor)));
    BOOST_TEST(refused(call("color=red&cursor=")));
    auto below = call("color=red&cursor=" + cursor);
    below.parameters = {"01a1fd2d-5668-7068-9e60-bb07fac2d373"};
    BOOST_TEST(refused(below));
    auto elsewhere = call("color=red&cursor=" + cursor);
    caller.actor.organization = OrgId::create();
    BOOST_TEST(refused(elsewhere));
}

BOOST_AUTO_TEST_CASE(filter_values_are_separated_in_a_cursor) {
    const std::string cursor = call("color=red&q=|q=x").seal_cursor("p");
    const auto other = call("color=red&q=x&cursor=" + cursor);
    BOOST_TEST(faults([&] { (void)other.cursor_position(); }) == Texts{"cursor invalid_cursor"});
    // The end of one filter value could otherwise be the beginning of the next one.
    const std::string inside = call("q=x|email=|since=|word=y").seal_cursor("p");
    const auto outside = call("q=x&word=y|email=|since=|word=&cursor=" + inside);
    BOOST_TEST(faults([&] { (void)outside.cursor_position(); }) == Texts{"cursor invalid_cursor"});
}

BOOST_AUTO_TEST_CASE(an_extra_row_creates_a_next_page) {
    const auto page = [&](std::vector<ListedThing> things) {
        auto one = call("limit=2");
        const auto made = api::page_of(one, std::move(things), [](const ListedThing& thing) {
            return std::to_string(thing.number);
        });
        Json::Value body;
        BOOST_TEST_REQUIRE(parse_json(to_json(kThings, made), body));
        return body;
    };
    BOOST_TEST(json_text(page({})) == R"({"next_cursor":null,"things":[]})");
    BOOST_TEST(json_text(page({{1}, {2}})) ==
               R"({"next_cursor":null,"things":[{"number":1},{"number":2}]})");
    const Json::Value more = page({{1}, {2}, {3}});
    BOOST_TEST(more["things"].size() == 2U);
    const auto next = call("cursor=" + more["next_cursor"].asString());
    BOOST_TEST(next.cursor_position() == "2");
}

BOOST_AUTO_TEST_CASE(an_id_in_the_path_is_a_uuid_or_not_found) {
    auto one = call("");
    const UserId id = UserId::create();
    const std::string text = id.text();
    one.parameters = {text};
    BOOST_TEST(one.id<UserId>() == id);
    std::string upper = text;
    for (char& c : upper) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
    for (const std::string& bad :
         {std::string("x"), text + "0", "{" + text + "}", std::string("A") + upper.substr(1)}) {
        one.parameters = {bad};
        BOOST_CHECK_EXCEPTION((void)one.id<UserId>(), Error, [](const Error& error) {
            return error.code() == ErrorCode::NotFound;
        });
    }
}

BOOST_AUTO_TEST_SUITE_END()
