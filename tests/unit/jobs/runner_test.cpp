// jobs/runner.hpp: the turns of a kind of work, and its end.
#include "jobs/runner.hpp"

#include "unit/base/logged.hpp"

#include "print.hpp"

#include <stdexcept>

using namespace muster;
using jobs::Deadline;
using jobs::Work;

namespace {

constexpr Milliseconds kRun{1'000};

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

struct OneKind {
    // The log of a run of this kind.
    std::string run(Work work, Milliseconds span = kRun) {
        work.finish = [this, finish = work.finish] {
            ends.push_back(turns);
            if (finish) finish();
        };
        return test::logged([&] { has_succeeded = jobs::run({work}, Deadline(span)); });
    }
    bool works() { return ++turns > 0; }
    bool fails() {
        ++turns;
        throw std::runtime_error("made up by a test");
    }

    int turns = 0;
    std::vector<int> ends;  // the number of turns before each call of `finish`
    bool has_succeeded = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(job_runner, OneKind)

BOOST_AUTO_TEST_CASE(work_is_finished_once_after_its_last_turn) {
    const auto turn = [this](const Deadline& deadline) {
        deadline.pause(Milliseconds(10));
        return works();
    };
    BOOST_TEST(run({.name = "kind", .turn = turn}) == "");
    BOOST_TEST(has_succeeded);
    BOOST_TEST(turns > 0);
    BOOST_TEST(ends == std::vector{turns});
}

BOOST_AUTO_TEST_CASE(work_whose_last_turn_failed_is_finished) {
    const std::string log =
        run({.name = "kind", .turn = [this](const Deadline&) { return fails(); }});
    BOOST_TEST(log.find("made up by a test") != log.npos);
    BOOST_TEST(!has_succeeded);
    BOOST_TEST(turns > 0);
    BOOST_TEST(ends == std::vector{turns});
}

BOOST_AUTO_TEST_CASE(work_may_go_on_while_the_runner_pauses_after_a_failed_turn) {
    int pauses = 0;
    const auto rest = [&](const Deadline& end) {
        ++pauses;
        BOOST_TEST(!end.over());
        throw std::runtime_error("made up by a pause");
    };
    const std::string log = run({.name = "kind",
                                 .turn = [this](const Deadline&) { return fails(); },
                                 .while_paused = rest});
    BOOST_TEST(log.find("made up by a pause") != log.npos);
    BOOST_TEST(pauses == turns);
    BOOST_TEST(turns == 1);  // the pause lasts to the end of the run
}

BOOST_AUTO_TEST_CASE(a_reason_that_fails_several_turns_is_logged_once) {
    const std::string log = run(
        {.name = "kind", .turn = [this](const Deadline&) { return fails(); }}, Milliseconds(2'500));
    BOOST_TEST(turns >= 2);
    BOOST_TEST(count_of(log, "made up by a test") == 1);
    BOOST_TEST(!has_succeeded);
}

BOOST_AUTO_TEST_CASE(different_reasons_of_turns_and_of_pauses_are_each_logged_once) {
    int pauses = 0;
    const auto rest = [&](const Deadline&) {
        ++pauses;
        throw std::runtime_error("made up by a pause");
    };
    const std::string log = run(
        {.name = "kind", .turn = [this](const Deadline&) { return fails(); }, .while_paused = rest},
        Milliseconds(2'500));
    BOOST_TEST(pauses >= 2);
    BOOST_TEST(count_of(log, "made up by a test") == 1);
    BOOST_TEST(count_of(log, "made up by a pause") == 1);
}

BOOST_AUTO_TEST_CASE(a_reason_is_logged_again_after_another_one_and_after_a_success) {
    const auto turn = [this](const Deadline&) -> bool {
        switch (++turns) {
            case 1:
            case 3:
            case 5:
                throw std::runtime_error("first reason");
            case 2:
                throw std::runtime_error("second reason");
            case 4:
                return true;
            default:
                return false;
        }
    };
    const std::string log =
        run({.name = "kind", .turn = turn, .ends_when_idle = true}, Milliseconds(20'000));
    BOOST_TEST(count_of(log, "first reason") == 3);
    BOOST_TEST(count_of(log, "second reason") == 1);
}

BOOST_AUTO_TEST_CASE(work_that_ends_when_idle_is_finished) {
    run({.name = "kind",
         .turn = [this](const Deadline&) { return !works(); },
         .ends_when_idle = true});
    BOOST_TEST(has_succeeded);
    BOOST_TEST(turns > 0);
    BOOST_TEST(ends == std::vector{turns});
}

BOOST_AUTO_TEST_CASE(a_failed_end_is_logged_and_fails_the_run) {
    const std::string log = run({.name = "kind",
                                 .turn = [this](const Deadline&) { return !works(); },
                                 .ends_when_idle = true,
                                 .finish = [this] { fails(); }});
    BOOST_TEST(log.find("runner.finish_failed") != log.npos);
    BOOST_TEST(log.find("work=kind") != log.npos);
    BOOST_TEST(!has_succeeded);
}

BOOST_AUTO_TEST_SUITE_END()
