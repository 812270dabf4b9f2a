// base/log.hpp: an event is one line, for any values.
#include "base/log.hpp"

#include "unit/base/logged.hpp"

#include "print.hpp"

#include <algorithm>
#include <string>
#include <vector>

using muster::log_event;
using muster::LogField;
using muster::LogLevel;
using muster::test::logged;
using muster::test::writes;

namespace {

std::string logged_value(const std::string& value) {
    const std::string line = logged([&] { log_event(LogLevel::Info, "e", {{"k", value}}); });
    constexpr std::string_view kHead = "level=info event=e k=";
    BOOST_TEST(line.starts_with(kHead), line);
    return line.substr(kHead.size(), line.size() - kHead.size() - 1);
}

// Restores the state of the log at the end.
struct InfoLevel {
    InfoLevel() { reset(); }
    ~InfoLevel() { reset(); }
    InfoLevel(const InfoLevel&) = delete;
    InfoLevel& operator=(const InfoLevel&) = delete;
    static void reset() {
        muster::set_log_level(LogLevel::Info);
        muster::set_log_request_id("");
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(event_log, InfoLevel)

BOOST_AUTO_TEST_CASE(an_event_is_a_line_of_keys_and_values) {
    const std::string name = "text";
    BOOST_TEST(logged([&] {
                   log_event(LogLevel::Warning, "import.claimed",
                             {{"job", name}, {"rows", 12}, {"ratio", -1}, {"is", "plain/x:y_1"}});
                   log_event(LogLevel::Error, "alone");
               }) ==
               "level=warning event=import.claimed job=text rows=12 ratio=-1 is=plain/x:y_1\n"
               "level=error event=alone\n");
}

BOOST_AUTO_TEST_CASE(the_fields_may_come_from_a_vector) {
    const std::vector<LogField> fields = {{"sessions", 2}, {"mails", 0}};
    BOOST_TEST(logged([&] { log_event(LogLevel::Info, "e", fields); }) ==
               "level=info event=e sessions=2 mails=0\n");
}

BOOST_AUTO_TEST_CASE(a_value_with_special_characters_is_quoted_on_one_line) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"plain", "plain"},
        {"", "\"\""},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"x\"", "\"say \\\"x\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"a\nlevel=error event=forged", "\"a\\nlevel=error event=forged\""},
        {"a\r\tb", "\"a??b\""},
        {std::string("a\0b", 3), "\"a?b\""},
        {"\x1b[31m", "\"?[31m\""},
        {"\x7f", "\"?\""},
        {"Zo\u00eb", "\"Zo\u00eb\""},
    };
    for (const auto& [value, expected] : table) BOOST_TEST(logged_value(value) == expected);
}

BOOST_AUTO_TEST_CASE(no_byte_of_a_value_ends_the_line_or_the_quotes) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string value = "a" + std::string(1, static_cast<char>(byte)) + " b";
        const std::string line = logged([&] { log_event(LogLevel::Info, "e", {{"k", value}}); });
        BOOST_TEST(std::count(line.begin(), line.end(), '\n') == 1, byte);
        BOOST_TEST(line.ends_with(" b\"\n"), byte);
    }
}

BOOST_AUTO_TEST_CASE(every_line_names_the_request_until_it_ends) {
    BOOST_TEST(logged([] {
                   muster::set_log_request_id("r1");
                   log_event(LogLevel::Info, "a");
                   muster::set_log_request_id("r 2\n");
                   log_event(LogLevel::Info, "b", {{"k", 1}});
                   muster::set_log_request_id("");
                   log_event(LogLevel::Info, "c");
               }) ==
               "level=info event=a request_id=r1\n"
               "level=info event=b request_id=\"r 2\\n\" k=1\n"
               "level=info event=c\n");
}

BOOST_AUTO_TEST_CASE(events_below_the_level_are_not_written) {
    const auto all = [] {
        log_event(LogLevel::Debug, "d");
        log_event(LogLevel::Info, "i");
        log_event(LogLevel::Warning, "w");
        log_event(LogLevel::Error, "e");
    };
    const std::vector<std::pair<LogLevel, int>> table = {
        {LogLevel::Debug, 4}, {LogLevel::Info, 3}, {LogLevel::Warning, 2}, {LogLevel::Error, 1}};
    for (const auto& [level, lines] : table) {
        muster::set_log_level(level);
        const std::string text = logged(all);
        BOOST_TEST(std::count(text.begin(), text.end(), '\n') == lines);
    }
}

BOOST_AUTO_TEST_CASE(each_line_is_a_write) {
    const auto seen = writes([] {
        const muster::CollectedLines unwanted(false);
        log_event(LogLevel::Info, "a");
        log_event(LogLevel::Info, "b");
    });
    BOOST_TEST((seen == std::vector<std::string>{"level=info event=a\n", "level=info event=b\n"}));
}

BOOST_AUTO_TEST_CASE(collected_lines_are_one_write) {
    const auto seen = writes([] {
        {
            const muster::CollectedLines lines(true);
            log_event(LogLevel::Info, "a");
            log_event(LogLevel::Info, "b");
        }
        log_event(LogLevel::Info, "c");
    });
    BOOST_TEST((seen == std::vector<std::string>{"level=info event=a\nlevel=info event=b\n",
                                                 "level=info event=c\n"}));
}

BOOST_AUTO_TEST_CASE(collected_lines_are_written_before_long_work) {
    const auto seen = writes([] {
        muster::CollectedLines lines(true);
        lines.write();
        log_event(LogLevel::Info, "a");
        lines.write();
        log_event(LogLevel::Info, "b");
    });
    BOOST_TEST((seen == std::vector<std::string>{"level=info event=a\n", "level=info event=b\n"}));
}

BOOST_AUTO_TEST_CASE(a_warning_is_written_at_once_after_the_lines_before_it) {
    const auto seen = writes([] {
        const muster::CollectedLines lines(true);
        log_event(LogLevel::Info, "a");
        log_event(LogLevel::Warning, "b");
        BOOST_TEST(!writes([] { log_event(LogLevel::Error, "c"); }).empty());
        log_event(LogLevel::Info, "d");
    });
    BOOST_TEST((seen == std::vector<std::string>{"level=info event=a\nlevel=warning event=b\n",
                                                 "level=info event=d\n"}));
}

BOOST_AUTO_TEST_CASE(many_collected_lines_are_writes_of_whole_lines_of_at_most_4_kib) {
    const std::string value(100, 'x');
    std::string expected;
    const auto seen = writes([&] {
        const muster::CollectedLines lines(true);
        for (int i = 0; i < 100; ++i) log_event(LogLevel::Info, "e", {{"k", value}});
    });
    for (int i = 0; i < 100; ++i) expected += "level=info event=e k=" + value + "\n";
    std::string all;
    for (const std::string& text : seen) {
        BOOST_TEST(text.size() <= 4096U);
        BOOST_TEST(text.ends_with(value + "\n"));
        all += text;
    }
    BOOST_TEST(all == expected);
    BOOST_TEST(seen.size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_line_above_4_kib_is_a_write_of_its_own) {
    const std::string value(5000, 'x');
    const auto seen = writes([&] {
        const muster::CollectedLines lines(true);
        log_event(LogLevel::Info, "a");
        log_event(LogLevel::Info, "b", {{"k", value}});
        log_event(LogLevel::Info, "c");
    });
    BOOST_TEST((seen == std::vector<std::string>{"level=info event=a\n",
                                                 "level=info event=b k=" + value + "\n",
                                                 "level=info event=c\n"}));
}

BOOST_AUTO_TEST_SUITE_END()
