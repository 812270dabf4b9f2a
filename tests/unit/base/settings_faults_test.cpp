// base/settings.hpp: all faults of a configuration together, and a bounded file.
#include "base/settings.hpp"

#include "unit/base/settings_files.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using muster::load_settings;
using muster::SettingsError;
using muster::test::Variable;

BOOST_FIXTURE_TEST_SUITE(settings_faults, muster::test::SettingsFiles)

BOOST_AUTO_TEST_CASE(all_faults_are_reported_together_in_the_order_of_the_file) {
    const Variable level("MUSTER_LOG_LEVEL", "loud");
    const std::string text =
        "[server]\nworkers = 0\nreaders\nworker = 1\n[srver]\nworkers = 0\n[jobs\nlease = 1\n"
        "[database]\npassword = file:/nowhere\nurl = hidden:pw@db\n[security]\nkey_file = " +
        scratch.write("short", "hidden") + "\n";
    try {
        load(text);
        BOOST_FAIL("not rejected");
    } catch (const SettingsError& error) {
        std::vector<std::string> found;
        for (const auto& fault : error.faults) {
            found.push_back(fault.place.substr(fault.place.find_last_of("/:") + 1) + " " +
                            fault.setting);
        }
        const std::vector<std::string> expected = {"2 server.workers",
                                                   "3 ",
                                                   "4 server.worker",
                                                   "5 ",
                                                   "7 ",
                                                   "10 database.password",
                                                   "11 database.url",
                                                   "13 security.key_file",
                                                   "MUSTER_LOG_LEVEL log.level"};
        BOOST_TEST(found == expected);
        BOOST_TEST(error.left_out == 0U);
        BOOST_TEST(std::string(error.what()).find("hidden") == std::string::npos, error.what());
        BOOST_TEST(std::string(error.what()).find("; ") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(faults_above_the_bound_are_counted) {
    try {
        std::string text;
        for (int line = 0; line < 25; ++line) text += "x\n";
        load(text);
        BOOST_FAIL("not rejected");
    } catch (const SettingsError& error) {
        BOOST_TEST(error.faults.size() == SettingsError::kMost);
        BOOST_TEST(error.left_out == 5U);
        BOOST_TEST(std::string(error.what()).ends_with("; and 5 more"), error.what());
    }
}

BOOST_AUTO_TEST_CASE(a_file_has_at_most_a_mebibyte) {
    const std::string line = "\n[log]\nlevel = debug";
    const std::string key = "\n[security]\nkey_file = " + key_file + "\n";
    BOOST_TEST(load(std::string((1U << 20U) - line.size() - key.size(), '#') + line).log.level ==
               "debug");
    BOOST_TEST(refusal(std::string(1U << 20U, '#')) ==
               "muster.conf: has more than 1048576 bytes; name the configuration of Muster");
    BOOST_CHECK_THROW(load_settings("/dev/zero", kProviders), SettingsError);
}

BOOST_AUTO_TEST_SUITE_END()
