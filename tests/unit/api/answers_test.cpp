// api/answers.hpp: how a function's result becomes the reply that its row declares.
#include "api/answers.hpp"

#include "api/issued.hpp"
#include "api/long_answer.hpp"
#include "base/json.hpp"
#include "http/etag.hpp"
#include "json/json_body.hpp"
#include "service/callers.hpp"
#include "unit/api/offline_context.hpp"

#include "print.hpp"

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

using namespace muster;
using api::Answer;
using api::Call;
using api::Endpoint;
using api::LongAnswer;

namespace {

struct Thing {
    std::int64_t number = 0;
};
constexpr auto kThing = record<Thing>("Thing", field<&Thing::number>("number", "The number."));

struct NewThing {
    std::int64_t number = 0;
};
constexpr auto kNewThing = json::object<NewThing>(
    json::required("number", &NewThing::number, json::Integer{0, 9}, "The number."));

struct IssuedThing {
    Thing thing;
    Secret key;
};
constexpr api::IssuedShape<kThing, &IssuedThing::thing, &IssuedThing::key> kIssuedThing{
    "IssuedThing", {"key"}};

Thing one(Call&) {
    return {1};
}
std::optional<Thing> none(Call&) {
    return std::nullopt;
}
Answer<Thing> merged(Call&) {
    return {.value = {2}, .location = "/things/2", .headers = {{"X", "y"}}, .is_second = true};
}
Thing made(Call&, const NewThing& in) {
    return {in.number};
}
void refuse_nine(Call&, const NewThing& in) {
    if (in.number == 9) throw Error(ErrorCode::InvalidState);
}
void forget(Call&) {}
std::string elsewhere(Call&) {
    return "https://example.test/";
}
std::string text(Call&) {
    return "a,b";
}
constexpr char kCsv[] = "text/csv; charset=utf-8";
api::Stream pieces(Call&) {
    return {.headers = {{"X", "y"}}, .write = [](const http::Sink& to) { to("piece"); }};
}

struct AnswersFixture : test::OfflineContext {
    http::Reply reply(const api::Handler& handler, api::ReplySpec spec = {201, "Done."},
                      const json::JsonIn* body = nullptr) {
        row.reply = spec;
        row.handler = handler;
        Call call{.request = request,
                  .endpoint = row,
                  .context = context,
                  .worker = worker,
                  .caller = caller,
                  .parameters = {},
                  .query = {},
                  .body = body,
                  .claim = std::nullopt};
        return row.handler.run(call);
    }
    http::Request request;
    service::Caller caller;
    Endpoint row;
};

std::string header(const http::Reply& reply, std::string_view name) {
    for (const auto& [known, value] : reply.headers) {
        if (known == name) return value;
    }
    return "";
}

std::optional<ErrorCode> code_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(answers, AnswersFixture)

BOOST_AUTO_TEST_CASE(a_value_is_sent_with_the_status_of_the_row) {
    const auto made_one = reply(api::answers<kThing, one>);
    BOOST_TEST(made_one.status == 201);
    BOOST_TEST(made_one.body == R"({"number":1})");
    BOOST_TEST(row.handler.shape.component == "Thing");
    BOOST_TEST(row.handler.shape.content_type == "application/json");
}

BOOST_AUTO_TEST_CASE(an_empty_result_is_not_found) {
    BOOST_TEST(code_of([&] { reply(api::answers<kThing, none>); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(an_answer_adds_headers_to_the_value) {
    row.second_reply = api::ReplySpec{200, "Merged."};
    const auto second = reply(api::answers<kThing, merged>);
    BOOST_TEST(second.status == 200);
    BOOST_TEST(header(second, "Location") == "/things/2");
    BOOST_TEST(header(second, "X") == "y");
}

BOOST_AUTO_TEST_CASE(an_etag_is_computed_from_the_body_and_matched_where_304_is_declared) {
    const auto tagged = api::with_tag({200, "Done."});
    const auto first = reply(api::answers<kThing, one>, tagged);
    const std::string etag = header(first, "ETag");
    BOOST_TEST(etag == http::etag_of(first.body));
    request.if_none_match = etag;
    BOOST_TEST(reply(api::answers<kThing, one>, tagged).status == 200);
    row.second_reply = api::kNotModified;
    const auto known = reply(api::answers<kThing, one>, tagged);
    BOOST_TEST(known.status == 304);
    BOOST_TEST(known.body == "");
    BOOST_TEST(known.omitted == first.body.size());
    BOOST_TEST(header(known, "ETag") == etag);
}

BOOST_AUTO_TEST_CASE(a_reply_with_secrets_is_recorded_encrypted) {
    const auto issued = api::stored<kIssuedThing>(row, Answer<IssuedThing>{{{1}, Secret("s")}});
    BOOST_TEST(issued.is_secret);
    BOOST_TEST(issued.body == R"({"number":1,"key":"s"})");
    BOOST_TEST(!api::stored<kThing>(row, Answer<Thing>{{1}}).is_secret);
}

BOOST_AUTO_TEST_CASE(a_body_is_decoded_and_checked_before_its_function_runs) {
    constexpr auto kMade =
        api::decoded<kNewThing, api::checked<refuse_nine, api::answers<kThing, made>>>;
    const auto sent = [&](const std::string& body) {
        const json::JsonBody json(body);
        return reply(kMade, {201, "Done."}, &json.root()).body;
    };
    BOOST_TEST(sent(R"({"number": 3})") == R"({"number":3})");
    BOOST_TEST(code_of([&] { sent(R"({"number": 9})"); }) == ErrorCode::InvalidState);
    BOOST_TEST(code_of([&] { sent(R"({"number": 10})"); }) == ErrorCode::ValidationError);
}

BOOST_AUTO_TEST_CASE(empty_replies_and_redirects_have_no_body) {
    const auto gone = reply(api::answers_nothing<forget>, {204, "Gone."});
    BOOST_TEST(gone.status == 204);
    BOOST_TEST(gone.body == "");
    const auto moved = reply(api::redirects<elsewhere>, {302, "There."});
    BOOST_TEST(moved.status == 302);
    BOOST_TEST(header(moved, "Location") == "https://example.test/");
    BOOST_TEST(row.handler.shape.content_type == "");
}

BOOST_AUTO_TEST_CASE(other_media_types_are_sent_whole_or_in_chunks) {
    const auto whole = reply(api::sends<kCsv, text>, {200, "Lines."});
    BOOST_TEST(whole.content_type == kCsv);
    BOOST_TEST(whole.body == "a,b");
    BOOST_TEST(row.handler.shape.content_type == "text/csv");
    BOOST_TEST(!row.handler.shape.is_streamed);
    const auto stream = reply(api::sends<kCsv, pieces>, {200, "Lines."});
    BOOST_TEST(row.handler.shape.is_streamed);
    BOOST_TEST(header(stream, "X") == "y");
    std::string sent;
    stream.stream([&](std::string_view piece) {
        sent += piece;
        return true;
    });
    BOOST_TEST(sent == "piece");
}

BOOST_AUTO_TEST_SUITE_END()

// ---------------------------------------------------------------------------- long answers

namespace {

struct LongAnswers : test::OfflineContext {
    LongAnswers() { settings.server.workers = 8; }

    LongAnswer begin(const service::Caller& caller) {
        return LongAnswer({.request = request,
                           .endpoint = row,
                           .context = context,
                           .worker = worker,
                           .caller = caller,
                           .parameters = {},
                           .query = {},
                           .claim = std::nullopt});
    }
    static service::Caller caller() {
        service::Caller one;
        one.actor.organization = OrgId::create();
        return one;
    }
    // The seconds after which the caller should repeat the request; 0 if it may begin.
    int refusal(const service::Caller& caller) {
        try {
            begin(caller);
            return 0;
        } catch (const Error& error) {
            BOOST_TEST((error.code() == ErrorCode::RateLimited));
            BOOST_TEST(error.details()["reason"].asString() != "");
            return error.retry_after();
        }
    }
    http::Request request;
    api::Endpoint row;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(long_answers, LongAnswers)

BOOST_AUTO_TEST_CASE(an_organization_gets_one_long_answer_and_a_quarter_of_the_workers_send_them) {
    const auto first = caller();
    const auto second = caller();
    const auto third = caller();
    auto one = std::optional(begin(first));
    BOOST_TEST(refusal(first) == 1);
    const auto other = begin(second);
    BOOST_TEST(refusal(third) == 1);
    one.reset();
    BOOST_TEST(refusal(third) == 0);
    BOOST_TEST(refusal(first) == 0);
    BOOST_TEST(refusal(second) == 1);
}

BOOST_AUTO_TEST_CASE(a_long_answer_ends_before_its_reply_is_complete) {
    const auto whose = caller();
    const auto stream = begin(whose).as_file("members.csv");
    BOOST_TEST(refusal(whose) == 1);
    stream.write([](std::string_view) { return true; });
    BOOST_TEST(refusal(whose) == 0);
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_long_answer_are_sent_in_order_and_have_its_length) {
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    LongAnswer answer = begin(caller());
    const auto sink = answer.sink();
    std::string expected;
    for (int i = 0; i < 60; ++i) {
        const std::string piece(100'000, static_cast<char>('a' + i % 26));
        sink(piece);
        expected += piece;
    }
    const auto stream = std::move(answer).as_file("members.csv");
    BOOST_TEST(open_files() == before + 1);  // the temporary file of a text above 4 MiB
    std::string sent;
    int parts = 0;
    stream.write([&](std::string_view part) {
        sent += part;
        ++parts;
        return true;
    });
    BOOST_TEST(open_files() == before);  // before the organization's next answer
    BOOST_TEST((sent == expected));
    BOOST_TEST(stream.length == expected.size());
    BOOST_TEST(parts > 1);
    BOOST_TEST(stream.headers.back().second == "attachment; filename=\"members.csv\"");
}

BOOST_AUTO_TEST_SUITE_END()
