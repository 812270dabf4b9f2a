// client/profile.hpp: the defaults of muster-import.
#include "client/profile.hpp"

#include "base/crypto.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <map>

using namespace muster;
using namespace muster::client;

namespace {

EnvironmentValue environment_of(const std::map<std::string, std::string>& values) {
    return [values](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_profile)

BOOST_AUTO_TEST_CASE(the_profile_is_below_the_configuration_folder) {
    BOOST_TEST(profile_path(environment_of({{"HOME", "/h"}})) == "/h/.config/muster/profile");
    BOOST_TEST(profile_path(environment_of({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}})) ==
               "/c/muster/profile");
    BOOST_TEST(profile_path(environment_of({})) == "");
}

BOOST_AUTO_TEST_CASE(lines_of_the_profile_are_defaults) {
    const test::Scratch scratch;
    const std::string path = scratch.write("profile",
                                           "# my club\n\n url = https://x.org\nkey_file=~/my.key\n"
                                           "ca_file = /etc/ca.pem\nmap E = Mail = email\n");
    const Defaults defaults = read_profile(path, "/h");
    BOOST_TEST(defaults.url == "https://x.org");
    BOOST_TEST(defaults.key_file == "/h/my.key");
    BOOST_TEST(defaults.ca_file == "/etc/ca.pem");
    BOOST_REQUIRE(defaults.maps.size() == 1);
    BOOST_CHECK((defaults.maps[0] == MapOption{"E = Mail", "email"}));
    BOOST_TEST(read_profile(scratch.file("missing"), "/h").url == "");
}

BOOST_AUTO_TEST_CASE(a_profile_that_cannot_be_read_is_an_error) {
    const test::Scratch scratch;
    const std::string folder = scratch.file("");
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(read_profile(folder, "/h")), UsageError, [&](const UsageError& error) {
            return error.what() == "the profile " + folder + " is a folder; use a file";
        });
    std::filesystem::create_symlink("loop", scratch.file("loop"));
    BOOST_CHECK_EXCEPTION(static_cast<void>(read_profile(scratch.file("loop"), "/h")), UsageError,
                          [](const UsageError& error) {
                              return std::string_view(error.what()).find(" cannot be read: ") !=
                                     std::string_view::npos;
                          });
    scratch.write("file", "");
    BOOST_TEST(read_profile(scratch.file("file/profile"), "/h").url == "");
}

BOOST_AUTO_TEST_CASE(another_line_is_an_error_that_does_not_show_it) {
    const test::Scratch scratch;
    for (const char* line : {"key = org_secret", "org_secret", "url =", "color = blue"}) {
        const std::string path = scratch.write("profile", std::string("\n") + line + "\n");
        BOOST_CHECK_EXCEPTION(static_cast<void>(read_profile(path, "")), UsageError,
                              [](const UsageError& error) {
                                  const std::string_view text = error.what();
                                  return text.find("line 2: use url = ") != text.npos &&
                                         text.find("secret") == text.npos;
                              });
    }
}

BOOST_AUTO_TEST_CASE(a_key_in_the_place_of_a_name_is_rejected_and_not_repeated) {
    const std::string key = create_credential("org_").reveal();
    const test::Scratch scratch;
    const std::string path = scratch.write("profile", "key_file = " + key + "\n");
    const auto is_hidden = [&](const UsageError& error) {
        return std::string_view(error.what()).find(key) == std::string_view::npos;
    };
    BOOST_CHECK_EXCEPTION(static_cast<void>(read_profile(path, "")), UsageError, is_hidden);
    for (const char* name : {"MUSTER_URL", "MUSTER_KEY_FILE", "MUSTER_CA_FILE"}) {
        BOOST_CHECK_EXCEPTION(
            static_cast<void>(defaults_of(environment_of({{name, key}}))), UsageError,
            [&](const UsageError& error) {
                const std::string_view text = error.what();
                return is_hidden(error) && text.starts_with(std::string(name) + " names ") &&
                       text.find("it was given a key; put the key into a file") != text.npos;
            });
    }
}

BOOST_AUTO_TEST_CASE(the_environment_overrides_the_profile) {
    const test::Scratch scratch;
    std::filesystem::create_directories(scratch.file("muster"));
    scratch.write("muster/profile", "url = https://x.org\nkey_file = x.key\n");
    const std::string config = scratch.file("");
    const Defaults by_profile = defaults_of(environment_of({{"XDG_CONFIG_HOME", config}}));
    BOOST_TEST(by_profile.url == "https://x.org");
    BOOST_TEST(by_profile.url_source == "the url of " + config + "/muster/profile");
    BOOST_TEST(by_profile.key_file == "x.key");
    const Defaults by_environment = defaults_of(environment_of({{"XDG_CONFIG_HOME", config},
                                                                {"MUSTER_URL", "https://y.org"},
                                                                {"MUSTER_KEY_FILE", "y.key"},
                                                                {"MUSTER_CA_FILE", "y.pem"}}));
    BOOST_TEST(by_environment.url == "https://y.org");
    BOOST_TEST(by_environment.url_source == "MUSTER_URL");
    BOOST_TEST(by_environment.key_file == "y.key");
    BOOST_TEST(by_environment.ca_file == "y.pem");
    const Defaults with_key =
        defaults_of(environment_of({{"XDG_CONFIG_HOME", config}, {"MUSTER_API_KEY", "org_"}}));
    BOOST_TEST(with_key.key_file == "");
}

BOOST_AUTO_TEST_SUITE_END()
