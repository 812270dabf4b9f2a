// ctl/: values of options that the services reject are usage errors with the option, the value and
// what is allowed. No command here reaches the database.
#include "ctl/command.hpp"
#include "rules/attributes.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/organizations.hpp"
#include "service/attributes.hpp"
#include "service/pages/publishable_keys.hpp"

#include "print.hpp"
#include "unit/api/offline_context.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace muster;

namespace {

using Words = std::vector<std::string>;

struct Commands : test::OfflineContext {
    // The usage error of the command; "" if the line is valid.
    std::string usage_error(const Words& words) {
        const CommandLine line = parse_command_line(ctl::program(), words);
        const ctl::Call call = ctl::find_call(line);
        try {
            (void)call.command.run({context, database, "", line, call.arguments, {}, {}});
        } catch (const UsageError& error) {
            return error.what();
        } catch (const std::exception&) {
            return "";  // the database is unreachable
        }
        return "";
    }
};

const std::string kOrg = "01a1fd04-035b-72c3-8961-619ede6ecc85";

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// The texts that names, labels and choices must not be, and the faults.
std::vector<std::pair<std::string, std::string>> faulty_texts() {
    const std::string control =
        "the text has a control character, such as a line break or a tab; remove it";
    const std::string longest(255, 'x');
    return {{"line\nBcc: x", "\"line\\x0aBcc: x\": " + control},
            {"k\tk", "\"k\\x09k\": " + control},
            {"k\xff", "\"k\\xff\": the text is not UTF-8; encode it as UTF-8"},
            {"  ", "\"  \": the text is empty; use 1 to 255 characters"},
            {longest + "y", "\"" + std::string(200, 'x') +
                                "...\" (256 bytes): the text has 256 characters; use 1 to 255"}};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ctl_values, Commands)

BOOST_AUTO_TEST_CASE(a_name_label_or_choice_must_be_text_without_control_characters) {
    const Words attribute = {"attribute", "add", "--org", kOrg, "--key", "a"};
    const Words origins = {"--org", kOrg, "--origins", "https://a.example"};
    const std::vector<std::pair<Words, std::string>> options = {
        {{"org", "create", "--name"}, "--name"},
        {{"org", "rename", kOrg, "--name"}, "--name"},
        {{"key", "issue", "--org", kOrg, "--name"}, "--name"},
        {with(with({"tracking-key", "issue"}, origins), {"--name"}), "--name"},
        {with(with({"content-key", "issue"}, origins), {"--name"}), "--name"},
        {with(attribute, {"--type", "text", "--label"}), "--label"},
        {with(attribute, {"--type", "multi_choice", "--choices"}), "entry 1 of --choices"},
    };
    for (const auto& [words, option] : options) {
        for (const auto& [text, fault] : faulty_texts()) {
            BOOST_TEST(usage_error(with(words, {text})) == option + " is " + fault);
        }
        BOOST_TEST(usage_error(with(words, {std::string(255, 'x')})) == "");
        BOOST_TEST(usage_error(with(words, {" Zo\u00eb\n"})) == "");
    }
}

BOOST_AUTO_TEST_CASE(an_email_address_must_be_valid) {
    const std::string fault =
        " is \"foo\": this is not an email address; use one such as ada@example.org";
    for (const char* verb : {"add", "invite", "resend", "withdraw", "remove"}) {
        BOOST_TEST(usage_error({"admin", verb, "--org", kOrg, "--email", "foo"}) ==
                   "--email" + fault);
    }
    BOOST_TEST(usage_error({"admin", "set-role", "--org", kOrg, "--role", "owner", "--email",
                            "foo"}) == "--email" + fault);
    BOOST_TEST(usage_error({"admin", "reset-2fa", "--yes", "--email", "foo"}) == "--email" + fault);
    BOOST_TEST(usage_error({"user", "erase", "--email", "foo"}) == "--email" + fault);
    BOOST_TEST(usage_error({"mail", "test", "foo"}) == "ADDRESS" + fault);
}

BOOST_AUTO_TEST_CASE(an_invalid_origin_is_named_by_its_place) {
    const std::string allowed =
        "; use an origin such as https://shop.example or https://*.shop.example, without a path";
    for (const char* noun : {"tracking-key", "content-key"}) {
        const Words issue = {noun, "issue", "--org", kOrg, "--name", "k", "--origins"};
        BOOST_TEST(usage_error(with(issue, {"foo"})) ==
                   "entry 1 of --origins is \"foo\"" + allowed);
        BOOST_TEST(usage_error(with(issue, {"https://a.example,,https://b.example"})) ==
                   "entry 2 of --origins is \"\"" + allowed);
        std::string origins = "https://a.example";
        for (int more = 0; more < 50; ++more) origins += ",https://a.example";
        BOOST_TEST(usage_error(with(issue, {origins})) == "--origins has 51 entries; use 1 to 50");
        BOOST_TEST(usage_error(with(issue, {"https://a.example"})) == "");
    }
}

BOOST_AUTO_TEST_CASE(an_attribute_has_a_valid_key_and_choices_that_fit_its_type) {
    const auto fault = [&](const std::string& key, const std::string& type, const Words& choices) {
        return usage_error(
            with({"attribute", "add", "--org", kOrg, "--key", key, "--type", type}, choices));
    };
    BOOST_TEST(fault("Foo", "text", {}) ==
               "--key is \"Foo\"; use 1 to 64 characters: parts of lower-case letters, digits and "
               "_ that begin with a letter, joined by dots");
    BOOST_TEST(fault("a", "single_choice", {}) ==
               "--choices is missing: the type single_choice needs choices, such as A,B,C");
    BOOST_TEST(fault("a", "text", {"--choices", "x,y"}) ==
               "--choices does not fit the type text; leave it out, or use --type single_choice or "
               "multi_choice");
    BOOST_TEST(fault("a", "multi_choice", {"--choices", "a, a"}) ==
               "entry 2 of --choices is \"a\"; use each choice once");
    std::string many = "0";
    for (int more = 1; more <= 500; ++more) many += "," + std::to_string(more);
    BOOST_TEST(fault("a", "multi_choice", {"--choices", many}) ==
               "--choices has 501 entries; use 1 to 500");
    BOOST_TEST(fault("a", "multi_choice", {"--choices", "a, b"}) == "");
}

BOOST_AUTO_TEST_CASE(the_services_reject_control_characters_too) {
    const OrgId org = *OrgId::parse(kOrg);
    using rules::AttributeType;
    const std::vector<std::function<void()>> calls = {
        [&] { (void)service::create_organization(context, "a\nb"); },
        [&] { (void)service::rename_organization(context, org, "a\nb"); },
        [&] {
            (void)service::issue_api_key(context, org, {"a\tb", {}, {}, {}});
        },
        [&] {
            (void)service::issue_publishable_key(context, org, rules::PublishableKeyKind::Content,
                                                 {"a\tb", {"https://a.example"}, {}, {}, {}});
        },
        [&] {
            service::add_attribute(context, org, {"a", "a\nb", AttributeType::Text, {}, true});
        },
        [&] {
            service::add_attribute(context, org,
                                   {"a", "a", AttributeType::SingleChoice, {"a\nb"}, true});
        },
    };
    for (const auto& call : calls) BOOST_CHECK_THROW(call(), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_missing_confirmation_shows_the_question) {
    const std::string said = usage_error({"admin", "reset-2fa", "--email", "ada@example.org"});
    BOOST_TEST(said ==
               "--yes is missing, and there is no terminal to ask on: Remove the second factor and "
               "all sessions of ada@example.org?");
}

BOOST_AUTO_TEST_CASE(the_help_names_the_roles_and_the_default_of_each_command) {
    const auto has = [](const Words& command, const char* text) {
        return ctl::help(command).find(text) != std::string::npos;
    };
    for (const char* verb : {"add", "invite"}) {
        BOOST_TEST(has({"admin", verb}, "(role owner, admin or viewer; default admin)"), verb);
    }
    BOOST_TEST(!has({"admin", "set-role"}, "default"));
    BOOST_TEST(has({"key", "issue"}, "(role admin, the default, or viewer to read only)"));
    BOOST_TEST(!has({"key", "issue"}, "owner"));
}

BOOST_AUTO_TEST_SUITE_END()
