// rules/modules/manifest.hpp: every fault of a manifest and of a config with its exact path, and
// how a config is split into shown and secret values.
#include "rules/modules/manifest.hpp"

#include "print.hpp"

#include <string>
#include <string_view>
#include <vector>

using muster::Faults;
using muster::Secret;
using muster::rules::check_config;
using muster::rules::Config;
using muster::rules::emitted_types;
using muster::rules::is_module_slug;

namespace {

// "path code; path code"
std::string text_of(const Faults& faults) {
    std::string text;
    for (const auto& fault : faults.list()) {
        if (!text.empty()) text += "; ";
        text += fault.path + ' ' + std::string(field_code_text(fault.code));
    }
    return text;
}

std::string faults_of(std::string_view manifest, std::string_view slug = "loyal-ty") {
    Faults faults;
    muster::rules::check_manifest(slug, manifest, faults);
    return text_of(faults);
}

// For a manifest that has a name and these members.
std::string faults_with(const std::string& members) {
    return faults_of(R"({"name": "N", )" + members + "}");
}
std::string faults_of_property(const std::string& definition) {
    return faults_with(R"("config_schema": {"p": )" + definition + "}");
}

// The messages about a manifest that has a name and these members, one a line.
std::string messages_with(const std::string& members) {
    Faults faults;
    muster::rules::check_manifest("loyal-ty", R"({"name": "N", )" + members + "}", faults);
    std::string text;
    for (const auto& fault : faults.list()) text += fault.path + ' ' + fault.message + '\n';
    return text;
}

std::string strings(std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        list += (i ? ",\"" : "\"") + ("p" + std::to_string(i)) + '"';
    }
    return "[" + list + "]";
}

constexpr std::string_view kManifest = R"({"name": "Shop", "config_schema": {
    "key": {"type": "string", "secret": true, "required": true},
    "mode": {"type": "string", "enum": ["live", "test"]},
    "rate": {"type": "number", "enum": [1, 2.5]},
    "fine": {"type": "boolean"}}})";

struct Checked {
    Config config;
    std::string faults;
};
Checked checked(std::string_view config, std::string kept = "",
                std::string_view manifest = kManifest) {
    Faults faults;
    Config result = check_config(manifest, config, Secret(std::move(kept)), faults);
    return {std::move(result), text_of(faults)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(manifest)

BOOST_AUTO_TEST_CASE(a_slug_begins_with_a_letter_and_has_2_to_63_characters) {
    for (const std::string& slug :
         {std::string("ab"), std::string("a-"), std::string("a9-b"), std::string(63, 'a')}) {
        BOOST_TEST(is_module_slug(slug), slug);
    }
    for (const std::string& slug :
         {std::string(), std::string("a"), std::string("9a"), std::string("-a"), std::string("aB"),
          std::string("a_b"), std::string("a b"), std::string(64, 'a')}) {
        BOOST_TEST(!is_module_slug(slug), slug);
    }
}

BOOST_AUTO_TEST_CASE(a_manifest_requires_only_a_name) {
    BOOST_TEST(faults_of(R"({"name": "N"})") == "");
    BOOST_TEST(faults_of("{}") == "manifest.name required");
    BOOST_TEST(faults_of(R"({"name": " "})") == "manifest.name required");
    BOOST_TEST(faults_of(R"({"name": null})") == "manifest.name wrong_type");
    BOOST_TEST(faults_of(R"({"name": "a\nb"})") == "manifest.name invalid_value");
    BOOST_TEST(faults_of(R"({"name": ")" + std::string(255, 'n') + "\"}") == "");
    BOOST_TEST(faults_of(R"({"name": ")" + std::string(256, 'n') + "\"}") ==
               "manifest.name too_long");
    for (const char* none : {"[]", "1", "", "{", "null"}) {
        BOOST_TEST(faults_of(none) == "manifest wrong_type");
    }
}

BOOST_AUTO_TEST_CASE(a_manifest_may_use_every_field_at_once) {
    BOOST_TEST(faults_of(R"({
        "name": "Loyalty", "description": "Points\nand more",
        "events": {"emits": ["loyal_ty.points_awarded", "loyal_ty.a.b"],
                   "subscribes": ["member.created", "loyal_ty.a.b", "other_module.done"]},
        "config_schema": {
            "api_key": {"type": "string", "required": true, "secret": true},
            "mode": {"type": "string", "enum": ["live", "test"]},
            "rate": {"type": "number", "enum": [1, 2.5]},
            "on": {"type": "boolean", "required": false}},
        "permissions": ["members:read"]})") == "");
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_rejected_at_every_level) {
    BOOST_TEST(faults_with(R"("version": 1)") == "manifest.version unknown_field");
    BOOST_TEST(faults_with(R"("events": {"emit": []})") == "manifest.events.emit unknown_field");
    BOOST_TEST(faults_of_property(R"({"type": "string", "default": ""})") ==
               "manifest.config_schema.p.default unknown_field");
    const std::string longest(500, 'k');
    BOOST_TEST(faults_with('"' + longest + "\": 1") ==
               "manifest." + longest.substr(0, 64) + " unknown_field");
    BOOST_TEST(faults_with(R"("permissions": [], "permissions": [])") ==
               "manifest.permissions duplicate");
}

// With a list of guesses, "***" in the config would reveal which of them is the stored value.
BOOST_AUTO_TEST_CASE(a_secret_cannot_have_a_list_of_values) {
    BOOST_TEST(faults_of_property(R"({"type": "string", "secret": true, "enum": ["a"]})") ==
               "manifest.config_schema.p.enum invalid_value");
    BOOST_TEST(faults_of_property(R"({"type": "string", "secret": false, "enum": ["a"]})") == "");
}

BOOST_AUTO_TEST_CASE(a_description_has_at_most_2000_characters) {
    BOOST_TEST(faults_with(R"("description": "")") == "");
    BOOST_TEST(faults_with(R"("description": 1)") == "manifest.description wrong_type");
    BOOST_TEST(faults_with(R"("description": ")" + std::string(2000, 'd') + '"') == "");
    BOOST_TEST(faults_with(R"("description": ")" + std::string(2001, 'd') + '"') ==
               "manifest.description too_long");
}

BOOST_AUTO_TEST_CASE(a_module_emits_only_types_with_its_own_slug) {
    BOOST_TEST(faults_with(R"("events": {"emits": ["loyal_ty.ok", "loyal-ty.no", "loyal_ty",
                                                   "loyal.no", "member.created", "Loyal_ty.no",
                                                   5, "loyal_ty.ok"]})") ==
               "manifest.events.emits[1] invalid_value; manifest.events.emits[2] invalid_value; "
               "manifest.events.emits[3] invalid_value; manifest.events.emits[4] invalid_value; "
               "manifest.events.emits[5] invalid_value; manifest.events.emits[6] wrong_type; "
               "manifest.events.emits[7] duplicate");
    BOOST_TEST(faults_of(R"({"name": "N", "events": {"emits": ["member.own"]}})", "member") ==
               "manifest.events.emits[0] invalid_value");
    BOOST_TEST(faults_with(R"("events": {"emits": "loyal_ty.ok"})") ==
               "manifest.events.emits wrong_type");
    BOOST_TEST(faults_with(R"("events": [])") == "manifest.events wrong_type");
    BOOST_TEST(faults_with(R"("events": {"emits": )" + strings(101) + "}") ==
               "manifest.events.emits too_long");
}

BOOST_AUTO_TEST_CASE(a_module_subscribes_only_to_possible_types) {
    BOOST_TEST(faults_with(R"("events": {"subscribes": ["member.created", "member.udpated",
                                                        "engagement", {}, "webhook_endpoint.test",
                                                        "other.x"]})") ==
               "manifest.events.subscribes[1] invalid_value; "
               "manifest.events.subscribes[2] invalid_value; "
               "manifest.events.subscribes[3] wrong_type; "
               "manifest.events.subscribes[4] invalid_value");
}

BOOST_AUTO_TEST_CASE(a_message_names_the_event_type_and_what_is_allowed) {
    BOOST_TEST(
        messages_with(R"("events": {"emits": ["shop.sold", 5]})") ==
        "manifest.events.emits[0] is \"shop.sold\"; use a type that begins with "
        "\"loyal_ty.\" and continues with words of a-z, 0-9 and _ that begin with a letter, such "
        "as \"loyal_ty.created\"\n"
        "manifest.events.emits[1] is 5; use a string\n");
    BOOST_TEST(
        messages_with(R"("events": {"subscribes": ["installation.gone", "engagement", "sold"]})") ==
        "manifest.events.subscribes[0] is \"installation.gone\"; use installation.enabled, "
        "installation.disabled, installation.changed\n"
        "manifest.events.subscribes[1] is \"engagement\"; use engagement.recorded\n"
        "manifest.events.subscribes[2] is \"sold\"; use a type of Muster, such as member.created, "
        "or of a module, such as shop.order_paid\n");
    Faults faults;
    muster::rules::check_manifest("member", R"({"name": "N", "events": {"emits": ["member.own"]}})",
                                  faults);
    BOOST_TEST(faults.list().at(0).message ==
               "is \"member.own\"; types that begin with \"member.\" belong to Muster, so this "
               "module cannot emit any");
}

BOOST_AUTO_TEST_CASE(a_message_names_the_value_and_the_choices) {
    BOOST_TEST(messages_with(R"("config_schema": {"p": {"type": "text", "secret": 1}, "q": []})") ==
               "manifest.config_schema.p.secret must be true or false\n"
               "manifest.config_schema.p.type is \"text\"; use string, number or boolean\n"
               "manifest.config_schema.q must be an object such as {\"type\": \"string\"}\n");
    BOOST_TEST(messages_with(R"("config_schema": {"p": {"default": 1}}, "events": {"emit": []})") ==
               "manifest.config_schema.p.default is not a field of this request; use type, "
               "required, secret, enum\n"
               "manifest.config_schema.p.type is required; use string, number or boolean\n"
               "manifest.events.emit is not a field of this request; use emits, subscribes\n");
    BOOST_TEST(messages_with(R"("permissions": ["a", "a", ""])") ==
               "manifest.permissions[1] is \"a\", which is given twice\n"
               "manifest.permissions[2] is empty; use 1 to 128 characters\n");
}

BOOST_AUTO_TEST_CASE(a_message_does_not_show_a_secret_in_place_of_its_declaration) {
    BOOST_TEST(messages_with(R"("config_schema": {"api_key": "sk_live_1"})") ==
               "manifest.config_schema.api_key must be an object such as {\"type\": \"string\"}\n");
}

BOOST_AUTO_TEST_CASE(a_message_shortens_a_long_value_between_two_characters) {
    std::string umlauts;
    for (int i = 0; i < 30; ++i) umlauts += "ä";
    BOOST_TEST(messages_with(R"("permissions": {"a": ")" + umlauts + "\"}") ==
               "manifest.permissions is {\"a\":\"" + umlauts.substr(0, 34) + "…; use an array\n");
}

BOOST_AUTO_TEST_CASE(permissions_are_distinct_texts_of_limited_length) {
    BOOST_TEST(faults_with(R"("permissions": ["a", "", 1, "a", "x\u0000"])") ==
               "manifest.permissions[1] required; manifest.permissions[2] wrong_type; "
               "manifest.permissions[3] duplicate; manifest.permissions[4] invalid_value");
    BOOST_TEST(faults_with("\"permissions\": " + strings(100)) == "");
    BOOST_TEST(faults_with("\"permissions\": " + strings(101)) == "manifest.permissions too_long");
    BOOST_TEST(faults_with(R"("permissions": [")" + std::string(129, 'p') + "\"]") ==
               "manifest.permissions[0] too_long");
}

BOOST_AUTO_TEST_CASE(a_property_has_a_name_and_a_type) {
    BOOST_TEST(faults_with(R"("config_schema": {"Key": {"type": "string"}, "_a": {"type": "x"},
                                                "a9_": {"type": 1}, "b": {}, "c": "string",
                                                "": {"type": "number"}})") ==
               "manifest.config_schema.Key invalid_value; "
               "manifest.config_schema._a invalid_value; "
               "manifest.config_schema._a.type invalid_choice; "
               "manifest.config_schema.a9_.type wrong_type; "
               "manifest.config_schema.b.type required; manifest.config_schema.c wrong_type; "
               "manifest.config_schema. invalid_value");
    BOOST_TEST(faults_with(R"("config_schema": [])") == "manifest.config_schema wrong_type");
    const auto many = [](int count) {
        std::string schema;
        for (int i = 0; i < count; ++i) {
            schema += (i ? ",\"p" : "\"p") + std::to_string(i) + R"(": {"type": "string"})";
        }
        return "\"config_schema\": {" + schema + "}";
    };
    BOOST_TEST(faults_with(many(100)) == "");
    BOOST_TEST(faults_with(many(101)) == "manifest.config_schema too_long");
    const std::string name(65, 'n');
    BOOST_TEST(faults_with(R"("config_schema": {")" + name + R"(": {"type": "string"}})") ==
               "manifest.config_schema." + name.substr(0, 64) + " invalid_value");
}

BOOST_AUTO_TEST_CASE(only_a_string_can_be_secret) {
    BOOST_TEST(faults_of_property(R"({"type": "string", "secret": true})") == "");
    BOOST_TEST(faults_of_property(R"({"type": "number", "secret": false})") == "");
    BOOST_TEST(faults_of_property(R"({"type": "number", "secret": true})") ==
               "manifest.config_schema.p.secret invalid_value");
    BOOST_TEST(faults_of_property(R"({"type": "string", "secret": "yes", "required": 1})") ==
               "manifest.config_schema.p.secret wrong_type; "
               "manifest.config_schema.p.required wrong_type");
}

BOOST_AUTO_TEST_CASE(choices_are_distinct_and_of_the_type_of_the_property) {
    BOOST_TEST(faults_of_property(R"({"enum": ["a", 1, "a", "***", null], "type": "string"})") ==
               "manifest.config_schema.p.enum[1] wrong_type; "
               "manifest.config_schema.p.enum[2] duplicate; "
               "manifest.config_schema.p.enum[3] invalid_value; "
               "manifest.config_schema.p.enum[4] wrong_type");
    BOOST_TEST(faults_of_property(R"({"type": "number", "enum": [1, 1.0, 1e0, "1", 1.5]})") ==
               "manifest.config_schema.p.enum[1] duplicate; "
               "manifest.config_schema.p.enum[2] duplicate; "
               "manifest.config_schema.p.enum[3] wrong_type");
    BOOST_TEST(faults_of_property(R"({"type": "string", "enum": []})") ==
               "manifest.config_schema.p.enum too_short");
    BOOST_TEST(faults_of_property(R"({"type": "string", "enum": {}})") ==
               "manifest.config_schema.p.enum wrong_type");
    BOOST_TEST(faults_of_property(R"({"type": "string", "enum": )" + strings(101) + "}") ==
               "manifest.config_schema.p.enum too_long");
    BOOST_TEST(faults_of_property(R"({"type": "string", "enum": [")" + std::string(256, 'x') +
                                  "\"]}") == "manifest.config_schema.p.enum[0] too_long");
}

BOOST_AUTO_TEST_CASE(at_most_a_hundred_faults_are_reported) {
    std::string keys = R"("name": "N")";
    for (int i = 0; i < 300; ++i) keys += ",\"k" + std::to_string(i) + "\": 1";
    Faults faults;
    muster::rules::check_manifest("shop", "{" + keys + "}", faults);
    BOOST_TEST(faults.list().size() == Faults::kMost);
    BOOST_TEST(faults.truncated());
}

BOOST_AUTO_TEST_CASE(the_emitted_types_are_read_back) {
    const auto types =
        emitted_types(R"({"name": "N", "events": {"emits": ["shop.sold", "shop.void"]}})");
    BOOST_TEST(types == (std::vector<std::string>{"shop.sold", "shop.void"}));
    for (const char* none : {"{}", "", "[1]", R"({"events": 1})"}) {
        BOOST_TEST(emitted_types(none).empty());
    }
}

// ---------------------------------------------------------------------------- config

BOOST_AUTO_TEST_CASE(a_valid_config_is_split_into_shown_and_secret_values) {
    const auto all = checked(R"({"key": "s3\"cret", "mode": "live", "rate": 1.0, "fine": false})");
    BOOST_TEST(all.faults == "");
    BOOST_TEST(all.config.shown == R"({"key":"***","mode":"live","rate":1.0,"fine":false})");
    BOOST_TEST(all.config.secrets.reveal() == R"({"key":"s3\"cret"})");
    const auto none = checked("{}", "", R"({"name": "N"})");
    BOOST_TEST(none.faults == "");
    BOOST_TEST(none.config.shown == "{}");
    BOOST_TEST(none.config.secrets.empty());
}

BOOST_AUTO_TEST_CASE(every_fault_of_a_config_is_reported_without_its_value) {
    BOOST_TEST(checked(R"({"mode": "prod", "rate": "1", "fine": null, "other": 1})").faults ==
               "config.mode invalid_choice; config.rate wrong_type; config.fine wrong_type; "
               "config.other unknown_field; config.key required");
    BOOST_TEST(checked(R"({"key": 1, "rate": 3})").faults ==
               "config.key wrong_type; config.rate invalid_choice");
    BOOST_TEST(checked(R"({"key": "a", "key": "b"})").faults == "config.key duplicate");
    BOOST_TEST(checked("[]").faults == "config wrong_type");
}

BOOST_AUTO_TEST_CASE(three_stars_keep_the_stored_secret) {
    const auto kept = checked(R"({"key": "***", "fine": true})", R"({"key":"old"})");
    BOOST_TEST(kept.faults == "");
    BOOST_TEST(kept.config.shown == R"({"key":"***","fine":true})");
    BOOST_TEST(kept.config.secrets.reveal() == R"({"key":"old"})");
    const auto replaced = checked(R"({"key": "new"})", R"({"key":"old"})");
    BOOST_TEST(replaced.config.secrets.reveal() == R"({"key":"new"})");
    BOOST_TEST(checked(R"({"key": "***"})").faults == "config.key invalid_value");
    BOOST_TEST(checked(R"({"key": "***"})", R"({"other":"old"})").faults ==
               "config.key invalid_value");
    // An omitted value is removed.
    BOOST_TEST(checked("{}", R"({"key":"old"})").faults == "config.key required");
}

BOOST_AUTO_TEST_CASE(a_kept_secret_must_match_the_new_schema_and_stay_secret) {
    const auto under = [](const std::string& definition) {
        return checked(R"({"key": "***"})", R"({"key":"old"})",
                       R"({"name": "N", "config_schema": {"key": )" + definition + "}}")
            .faults;
    };
    BOOST_TEST(under(R"({"type": "string", "secret": true})") == "");
    BOOST_TEST(under(R"({"type": "string", "secret": true, "enum": ["new"]})") == "");
    BOOST_TEST(under(R"({"type": "string"})") == "config.key invalid_value");
    BOOST_TEST(under(R"({"type": "number"})") == "config.key invalid_value");
    // Without a secret property, three stars are an ordinary value.
    BOOST_TEST(checked(R"({"key": "***"})", "",
                       R"({"name": "N", "config_schema": {"key": {"type": "string"}}})")
                   .config.shown == R"({"key":"***"})");
}

BOOST_AUTO_TEST_CASE(a_revealed_config_has_the_values_as_they_were_sent) {
    using muster::rules::revealed_config;
    const std::string shown = R"({"key":"***","mode":"live","rate":2.5,"fine":true})";
    BOOST_TEST(revealed_config(shown, Secret(R"({"key":"s3\"cret"})")).reveal() ==
               R"({"key":"s3\"cret","mode":"live","rate":2.5,"fine":true})");
    BOOST_TEST(revealed_config(shown, Secret()).reveal() == shown);
    BOOST_TEST(revealed_config("{}", Secret(R"({"other":"x"})")).reveal() == "{}");
    BOOST_TEST(revealed_config("not json", Secret("nor this")).reveal() == "{}");
}

BOOST_AUTO_TEST_SUITE_END()
