// client/console.hpp: progress lines and the progress bar.
#include "client/console.hpp"

#include "print.hpp"

#include <algorithm>
#include <sstream>

using namespace muster::client;

BOOST_AUTO_TEST_SUITE(client_console)

BOOST_AUTO_TEST_CASE(numbers_have_thousands_separators) {
    BOOST_TEST(grouped(0) == "0");
    BOOST_TEST(grouped(999) == "999");
    BOOST_TEST(grouped(1000) == "1,000");
    BOOST_TEST(grouped(1234567) == "1,234,567");
    BOOST_TEST(counted(0, "row") == "0 rows");
    BOOST_TEST(counted(1, "valid row") == "1 valid row");
    BOOST_TEST(counted(12345, "row") == "12,345 rows");
}

BOOST_AUTO_TEST_CASE(a_progress_line_has_share_count_rate_and_eta_and_fits_a_terminal) {
    BOOST_TEST(progress_line("Staging", 125'000, 250'000, 5, true) ==
               "Staging     50 % [########--------] 125,000/250,000  25,000 rows/s  ETA 0:05");
    BOOST_TEST(progress_line("Checking", 0, 250'000, 5, false) == "Checking     0 % 0/250,000");
    BOOST_TEST(progress_line("Importing", 10, 10, 2, false) == "Importing  100 % 10/10  5 rows/s");
    BOOST_TEST(progress_line("Importing", 0, 0, 0, false) == "Importing  100 % 0/0");
    BOOST_TEST(progress_line("Importing", 250'000, 250'000, 0.2, true).size() <= 79U);
    BOOST_TEST(progress_line("Importing", 100'000, 250'000, 9000, true).size() <= 79U);
}

BOOST_AUTO_TEST_CASE(without_a_terminal_each_tenth_prints_a_progress_line) {
    std::ostringstream text;
    std::ostringstream notes;
    Console console(text, notes, {});
    Progress progress(console, "Staging", 1000);
    for (std::uint64_t done = 0; done <= 1000; done += 10) progress.update(done);
    progress.finish(1000);
    const std::string lines = notes.str();
    BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 10);
    BOOST_TEST(lines.find('\r') == std::string::npos);
    BOOST_TEST(lines.find("Staging     10 % 100/1,000") == 0U);
    BOOST_TEST(text.str() == "");
}

BOOST_AUTO_TEST_CASE(on_a_terminal_text_replaces_the_bar) {
    std::ostringstream text;
    std::ostringstream notes;
    Console console(text, notes, {.quiet = false, .bars = true, .ask = {}});
    Progress progress(console, "Staging", 10);
    progress.update(5);
    console.error("broken");
    progress.finish(10);
    BOOST_TEST(notes.str() ==
               "\rStaging     50 % [########--------] 5/10\x1b[K\r\x1b[Kmuster-import: broken\n"
               "Staging    100 % [################] 10/10\n");
}

BOOST_AUTO_TEST_CASE(quiet_prints_only_errors) {
    std::ostringstream text;
    std::ostringstream notes;
    Console console(text, notes, {.quiet = true, .bars = true, .ask = {}});
    Progress progress(console, "Staging", 10);
    progress.update(5);
    progress.finish(10);
    console.say("said");
    console.note("noted");
    console.error("broken");
    BOOST_TEST(text.str() == "");
    BOOST_TEST(notes.str() == "muster-import: broken\n");
}

BOOST_AUTO_TEST_SUITE_END()
