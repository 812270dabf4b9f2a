// base/settings.hpp: the sections of providers of external data.
#include "base/settings.hpp"

#include "unit/base/settings_files.hpp"

#include "print.hpp"

#include <string>

using muster::Settings;
using muster::test::Variable;

BOOST_FIXTURE_TEST_SUITE(settings_providers, muster::test::SettingsFiles)

BOOST_AUTO_TEST_CASE(a_provider_has_a_section_of_its_own) {
    const Settings read = load(
        "[providers.slack]\nclient_id = id.1\nclient_secret = file:" +
        scratch.write("s", "a secret\n") +
        "\nauthorize_url = http://127.0.0.1:8080/a?b=c\ntoken_url = https://slack.example/{host}/t\n"
        "scopes = a:read b:read\n[providers.google_docs]\nhost = docs.example:8443\n");
    BOOST_TEST(read.providers.size() == 2U);
    const auto& slack = read.providers.at("slack");
    BOOST_TEST(slack.client_id == "id.1");
    BOOST_TEST(slack.client_secret.reveal() == "a secret");
    BOOST_TEST(slack.authorize_url == "http://127.0.0.1:8080/a?b=c");
    BOOST_TEST(slack.token_url == "https://slack.example/{host}/t");
    BOOST_TEST(slack.scopes == "a:read b:read");
    BOOST_TEST(read.providers.at("google_docs").host == "docs.example:8443");
    BOOST_TEST(load("").providers.empty());
}

BOOST_AUTO_TEST_CASE(an_unknown_provider_and_an_unknown_provider_key_are_rejected) {
    BOOST_TEST(refusal("[providers.myspace]\n") ==
               "muster.conf:1: unknown section; use [providers.slack] or [providers.google_docs]");
    BOOST_TEST(
        refusal("[providers.]\n").starts_with("muster.conf:1: unknown section; use [providers.sl"));
    BOOST_TEST(refusal("[providers]\n").ends_with(" or [providers.<id>]"));
    BOOST_TEST(refusal("[providers.slack]\nworkers = 2\n")
                   .starts_with("muster.conf:2: unknown key in [providers.slack]; use "));
    BOOST_TEST(refusal("[providers.slack]\nclient_id = a\nclient_id = b\n") ==
               "muster.conf:3: providers.slack.client_id is given twice; line 2 has it too");
    BOOST_TEST(refusal("[providers.slack]\nclient_id = a\n[providers.google_docs]\nclient_id = b\n")
                   .empty());
}

BOOST_AUTO_TEST_CASE(provider_addresses_are_https_or_loopback) {
    const auto check = [this](const std::string& url, bool is_good) {
        for (const char* key : {"authorize_url", "token_url", "lookup_url", "revoke_url"}) {
            const std::string reason =
                refusal(std::string("[providers.slack]\n") + key + " = " + url + "\n");
            BOOST_TEST(reason.empty() == is_good, url + ": " + reason);
        }
    };
    for (const char* good :
         {"https://a.example", "https://a.example:8443/x?y=z", "", "http://localhost/t",
          "https://{host}/t", "https://{host}:8443/a", "https://sso.{host}/a",
          "https://{host}.sso.example:1/a", "https://a.example/{host}", "http://127.0.0.1:1/t",
          "http://[::1]:80/t"}) {
        check(good, true);
    }
    for (const char* bad : {"http://a.example/t",
                            "http://localhost.evil.example/t",
                            "http://127.0.0.1.evil.example",
                            "http://127.0.0.1@evil.example/t",
                            "https://user:pw@a.example/t",
                            "ftp://localhost/t",
                            "https://",
                            "https://:80/",
                            "https://a:0/",
                            "https://a:99999/",
                            "https://a..b/",
                            "https://[::1",
                            "https://x{host}/",
                            "https://{host}x/",
                            "https://{host}-a.example/",
                            "https://{host}{host}/",
                            "https://{host}.{host}/",
                            "https://{host}@evil.example/",
                            "https://{host}:0/",
                            "https://{host}..a/",
                            "http://{host}/",
                            "http://localhost.{host}/",
                            "http://{host}.localhost/",
                            "http://127.0.0.1:{host}/",
                            "//a.example",
                            "a.example",
                            "https://a.example/ b",
                            "https://a.example/#x",
                            "file:///etc/passwd"}) {
        check(bad, false);
    }
}

BOOST_AUTO_TEST_CASE(values_of_a_provider_request_are_one_word) {
    const auto reason = [this](const std::string& line) {
        return refusal("[providers.slack]\n" + line + "\n");
    };
    const auto expected = [](const std::string& key, const std::string& value,
                             const std::string& allowed) {
        return "muster.conf:2: providers.slack." + key + " is \"" + value + "\"; use " + allowed;
    };
    BOOST_TEST(reason("client_id = two words") ==
               expected("client_id", "two words", "one word of printable ASCII characters"));
    BOOST_TEST(reason("issuer = a b") ==
               expected("issuer", "a b", "one word of printable ASCII characters"));
    BOOST_TEST(reason("host = https://gitlab.example") ==
               expected("host", "https://gitlab.example", "HOST or HOST:PORT"));
    BOOST_TEST(reason("host = a@b") == expected("host", "a@b", "HOST or HOST:PORT"));
    BOOST_TEST(reason("scopes = a\"b") == expected("scopes", "a\"b", "words separated by spaces"));
    BOOST_TEST(reason("client_secret = file:/nowhere") ==
               "muster.conf:2: providers.slack.client_secret names /nowhere, which cannot be read: "
               "No such file or directory");
}

BOOST_AUTO_TEST_CASE(the_environment_overrides_provider_settings) {
    const Variable id("MUSTER_PROVIDERS_GOOGLE_DOCS_CLIENT_ID", "two words");
    BOOST_TEST(refusal("") ==
               "MUSTER_PROVIDERS_GOOGLE_DOCS_CLIENT_ID: providers.google_docs.client_id is "
               "\"two words\"; use one word of printable ASCII characters");
    const Variable good("MUSTER_PROVIDERS_GOOGLE_DOCS_CLIENT_ID", "environment");
    BOOST_TEST(
        load("[providers.google_docs]\nclient_id = file\n").providers.at("google_docs").client_id ==
        "environment");
}

BOOST_AUTO_TEST_SUITE_END()
