// api/long_answer.hpp: who may get a long answer, and its parts.
#include "api/long_answer.hpp"

#include "service/callers.hpp"
#include "unit/api/offline_context.hpp"

#include "print.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace muster;
using api::LongAnswer;

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
    LongAnswer answer = begin(caller());
    const auto sink = answer.sink();
    std::string expected;
    for (int i = 0; i < 30; ++i) {
        const std::string piece(100'000, static_cast<char>('a' + i % 26));
        sink(piece);
        expected += piece;
    }
    const auto stream = std::move(answer).as_file("members.csv");
    std::string sent;
    int parts = 0;
    stream.write([&](std::string_view part) {
        sent += part;
        ++parts;
        return true;
    });
    BOOST_TEST((sent == expected));
    BOOST_TEST(stream.length == expected.size());
    BOOST_TEST(parts > 1);
    BOOST_TEST(stream.headers.back().second == "attachment; filename=\"members.csv\"");
}

BOOST_AUTO_TEST_SUITE_END()
