// rules/connections/oauth.hpp: what the configuration changes, how replies are read, the texts for
// admins, and when tokens are refreshed. For the requests to each provider see providers_test.cpp.
#include "rules/connections/oauth.hpp"

#include "base/text.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::rules;

namespace {

const auto error = [](const std::string& code) { return R"({"error":")" + code + R"("})"; };

using Kind = TokenFailure::Kind;
using Details = std::map<std::string, std::string>;

const Provider& provider(std::string_view id) {
    return *find_provider(id);
}

ProvidersSettings with(std::string_view id, ProviderSettings own) {
    own.client_id = "client-1";
    own.client_secret = Secret("s3cret");
    ProvidersSettings settings;
    settings[std::string(id)] = std::move(own);
    return settings;
}

OAuthClient client_of(std::string_view id, const ProviderSettings& own,
                      std::string_view host = "") {
    return oauth_client(provider(id), with(id, own), host);
}

AuthorizationRequest request() {
    return {.redirect_uri = "https://c.example/cb", .state = "s", .verifier = "v"};
}

TokenAnswer read(std::string_view id, int status, std::string_view body) {
    return read_token_answer(provider(id), status, body);
}

Tokens granted(std::string_view id, std::string_view body, int status = 200) {
    const TokenAnswer answer = read(id, status, body);
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<Tokens>(answer), body);
    return std::get<Tokens>(answer);
}

void check_failure(std::string_view id, int status, std::string_view body, Kind kind,
                   std::string_view code) {
    const TokenAnswer answer = read(id, status, body);
    BOOST_TEST_CONTEXT(id << " " << status << " " << body.substr(0, 200)) {
        BOOST_REQUIRE(std::holds_alternative<TokenFailure>(answer));
        const auto& failure = std::get<TokenFailure>(answer);
        BOOST_TEST(failure.kind == kind);
        BOOST_TEST(failure.code == code);
    }
}

std::string token_of(std::size_t size) {
    return R"({"access_token":")" + std::string(size, 'x') + R"("})";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oauth)

// ---------------------------------------------------------------------------- the configuration

BOOST_AUTO_TEST_CASE(a_provider_is_ready_with_an_id_and_a_secret) {
    ProvidersSettings settings;
    const Provider& slack = provider("slack");
    BOOST_TEST(missing_settings(slack, settings) ==
               "client_id and client_secret are not set in [providers.slack]");
    ProviderSettings& own = settings["slack"];
    own.scopes = "users:read";
    BOOST_TEST(missing_settings(slack, settings) ==
               "client_id and client_secret are not set in [providers.slack]");
    own.client_id = "client-1";
    BOOST_TEST(missing_settings(slack, settings) ==
               "client_secret is not set in [providers.slack]");
    own.client_secret = Secret("s3cret");
    BOOST_TEST(missing_settings(slack, settings) == "");
    own.client_id.clear();
    BOOST_TEST(missing_settings(slack, settings) == "client_id is not set in [providers.slack]");
    BOOST_TEST(missing_settings(provider("stripe"), settings) ==
               "client_id and client_secret are not set in [providers.stripe]");
}

BOOST_AUTO_TEST_CASE(a_tenant_names_a_host_only_within_the_domain_of_the_provider) {
    const HostRule& rule = provider("shopify").host;
    for (const std::string_view text :
         {"acme", "acme.myshopify.com", "ACME.MyShopify.com", " acme ", "Acme"}) {
        BOOST_TEST(settings_host(rule, text).value() == "acme.myshopify.com", text);
    }
    BOOST_TEST(settings_host(rule, "a-1").value() == "a-1.myshopify.com");
    BOOST_TEST(settings_host(rule, std::string(63, 'a')).has_value());
    for (const std::string& text : std::vector<std::string>{"",
                                                            " ",
                                                            "-acme",
                                                            "acme-",
                                                            "acme.example",
                                                            "acme.myshopify.com.evil.example",
                                                            "evil.example/.myshopify.com",
                                                            "evil.example#.myshopify.com",
                                                            "a.b.myshopify.com",
                                                            "user@acme.myshopify.com",
                                                            "acme:443",
                                                            "acme.myshopify.com:443",
                                                            "https://acme.myshopify.com",
                                                            "acme.myshopify.com.",
                                                            ".myshopify.com",
                                                            "127.0.0.1",
                                                            "acme%2e",
                                                            "ac me",
                                                            "acme\n",
                                                            "\xc3\xa4",
                                                            "acme_1",
                                                            std::string("a\0b", 3),
                                                            std::string(64, 'a')}) {
        const auto host = settings_host(rule, text);
        const bool is_trimmed = text == "acme\n";  // white space at the ends is trimmed
        BOOST_TEST(host.has_value() == is_trimmed, text);
    }
}

BOOST_AUTO_TEST_CASE(the_operator_names_the_host_of_a_self_hosted_installation) {
    ProviderSettings own;
    own.host = "git.example:8443";
    const OAuthClient client = client_of("gitlab", own, "evil.example");
    BOOST_TEST(client.authorize_url == "https://git.example:8443/oauth/authorize");
    BOOST_TEST(client.token_url == "https://git.example:8443/oauth/token");
    BOOST_TEST(client.revoke_url == "https://git.example:8443/oauth/revoke");
    BOOST_TEST(client.issuer == "https://git.example:8443");
    BOOST_TEST(client_of("gitlab", {}, "evil.example").token_url ==
               "https://gitlab.com/oauth/token");
}

BOOST_AUTO_TEST_CASE(the_configuration_replaces_addresses_scopes_and_issuer) {
    ProviderSettings own;
    own.authorize_url = "http://127.0.0.1:1/{host}/authorize?tenant=1";
    own.token_url = "http://127.0.0.1:1/{host}/token";
    own.scopes = " read_products   read_themes ";
    own.issuer = "https://issuer.example/{host}";
    own.lookup_url = "http://127.0.0.1:1/lookup";
    own.revoke_url = "http://127.0.0.1:1/revoke";
    own.ca_file = "/etc/ca.pem";
    const OAuthClient client = client_of("shopify", own, "acme.myshopify.com");
    BOOST_TEST(client.authorize_url == "http://127.0.0.1:1/acme.myshopify.com/authorize?tenant=1");
    BOOST_TEST(client.token_url == "http://127.0.0.1:1/acme.myshopify.com/token");
    BOOST_TEST(client.scopes == "read_products,read_themes");
    BOOST_TEST(client.issuer == "https://issuer.example/acme.myshopify.com");
    BOOST_TEST(client.ca_file == "/etc/ca.pem");
    BOOST_TEST(client.lookup_url == "");  // the row does not use them
    BOOST_TEST(client.revoke_url == "");
    own.issuer.clear();
    BOOST_TEST(client_of("shopify", own, "a.myshopify.com").issuer == "http://127.0.0.1:1");
    BOOST_TEST(client_of("mailchimp", own).lookup_url == "http://127.0.0.1:1/lookup");
    BOOST_TEST(client_of("gitlab", own).revoke_url == "http://127.0.0.1:1/revoke");
}

BOOST_AUTO_TEST_CASE(tokens_of_a_custom_server_are_not_sent_to_the_default_addresses) {
    ProviderSettings own;
    own.token_url = "http://127.0.0.1:1/token";
    BOOST_TEST(client_of("mailchimp", own).lookup_url == "");
    BOOST_TEST(client_of("gitlab", own).revoke_url == "");
    BOOST_TEST(client_of("quickbooks", own).issuer == "https://oauth.platform.intuit.com/op/v1");
    own.authorize_url = "http://127.0.0.1:1/authorize";
    BOOST_TEST(client_of("quickbooks", own).issuer == "http://127.0.0.1:1");
}

BOOST_AUTO_TEST_CASE(an_address_with_a_query_is_extended) {
    const auto begin_of = [](const std::string& configured) {
        ProviderSettings own;
        own.authorize_url = configured;
        const std::string url = authorization_url(client_of("stripe", own), request());
        return url.substr(0, url.find("client_id"));
    };
    BOOST_TEST(begin_of("https://a.example/x") == "https://a.example/x?response_type=code&");
    BOOST_TEST(begin_of("https://a.example/x?") == "https://a.example/x?response_type=code&");
    BOOST_TEST(begin_of("https://a.example/x?y=1") ==
               "https://a.example/x?y=1&response_type=code&");
    BOOST_TEST(begin_of("https://a.example/x?y=1&") ==
               "https://a.example/x?y=1&response_type=code&");
}

BOOST_AUTO_TEST_CASE(values_cannot_add_parameters) {
    AuthorizationRequest hostile = request();
    hostile.state = "a&scope=all#x";
    const OAuthClient client = client_of("stripe", {});
    const std::string url = authorization_url(client, hostile);
    BOOST_TEST(url.find("state=a%26scope%3Dall%23x&") != std::string::npos);
    const std::string body =
        code_request(client, request(), "c&client_id=\xff=").body.value().reveal();
    BOOST_TEST(body.find("code=c%26client_id%3D%FF%3D&") != std::string::npos);
    const std::string json =
        code_request(client_of("notion", {}), request(), "c\",\"x\":\"").body.value().reveal();
    BOOST_TEST(json.find(R"("code":"c\",\"x\":\"",)") != std::string::npos);
}

// ---------------------------------------------------------------------------- answers

BOOST_AUTO_TEST_CASE(tokens_are_read_with_their_lifetime_and_details) {
    const Tokens tokens = granted("quickbooks", R"({"access_token":"a.b-c_1~+/=","token_type":
        "Bearer","refresh_token":"r-1","expires_in":3600,"scope":"x y","x":{"y":[1]}})");
    BOOST_TEST(tokens.access_token.reveal() == "a.b-c_1~+/=");
    BOOST_TEST(tokens.refresh_token.value().reveal() == "r-1");
    BOOST_TEST(tokens.life.value().count() == 3'600'000);
    BOOST_TEST(tokens.details == (Details{{"scope", "x y"}}));
    BOOST_TEST(granted("stripe", R"({"access_token":"a","stripe_user_id":"acct_1"})").details ==
               (Details{{"stripe_user_id", "acct_1"}}));
    BOOST_TEST(granted("hubspot", R"({"access_token":"a","hub_id":4711})").details ==
               (Details{{"hub_id", "4711"}}));
    BOOST_TEST(granted("gitlab", R"({"access_token":"a"})", 201).details.empty());
}

BOOST_AUTO_TEST_CASE(invalid_details_are_left_out) {
    const std::string longest(255, 'x');
    for (const std::string& value :
         {std::string("null"), std::string("true"), std::string("1.5"), std::string("[1]"),
          std::string(R"({"a":1})"), std::string(R"("")"), std::string(R"("a\nb")"),
          std::string(R"("a\u0000b")"), std::string(R"("a\u007fb")"), "\"" + longest + "x\""}) {
        const std::string body =
            R"({"access_token":"a","scope":)" + value + R"(,"stripe_user_id":)" + value + "}";
        BOOST_TEST(granted("stripe", body).details.empty(), value);
    }
    BOOST_TEST(granted("stripe", R"({"access_token":"a","scope":")" + longest + R"("})")
                   .details.at("scope") == longest);
    const std::string other_way = R"({"access_token":"a","team":"x","team.id":"T1"})";
    BOOST_TEST(granted("slack", other_way).details.empty());
}

BOOST_AUTO_TEST_CASE(a_lifetime_is_a_number_or_a_text_and_no_lifetime_never_expires) {
    const auto life_of = [](const std::string& value) {
        return granted("gitlab", R"({"access_token":"a","expires_in":)" + value + "}").life;
    };
    BOOST_TEST(life_of("7200").value().count() == 7'200'000);
    BOOST_TEST(life_of("\"7200\"").value().count() == 7'200'000);
    BOOST_TEST(life_of("59.9").value().count() == 59'000);
    BOOST_TEST(!life_of("null").has_value());
    BOOST_TEST(!life_of("0").has_value());
    BOOST_TEST(!life_of("\"0\"").has_value());
    BOOST_TEST(!granted("gitlab", R"({"access_token":"a"})").life.has_value());
    constexpr std::int64_t kTenYears = 10L * 365 * 86'400'000;
    for (const std::string value : {"1e300", "315360000", "18446744073709551615", "\"1e18\""}) {
        BOOST_TEST(life_of(value).value().count() == kTenYears, value);
    }
    for (const std::string value : {"-1", "\"-1\"", "\"soon\"", "\"\"", "true", "[1]", "\"nan\"",
                                    "-9223372036854775808", "-0.5"}) {
        check_failure("gitlab", 200, R"({"access_token":"a","expires_in":)" + value + "}",
                      Kind::Unavailable, "invalid_answer");
    }
}

BOOST_AUTO_TEST_CASE(a_token_is_visible_ascii_of_limited_length) {
    BOOST_TEST(granted("gitlab", token_of(1)).access_token.reveal() == "x");
    BOOST_TEST(granted("gitlab", token_of(4096)).access_token.reveal().size() == 4096U);
    const std::vector<std::string> bodies = {
        token_of(0),
        token_of(4097),
        "{}",
        R"({"access_token":null})",
        R"({"access_token":1})",
        R"({"access_token":["a"]})",
        R"({"access_token":"a b"})",
        R"({"access_token":"a\r\nX: y"})",
        R"({"access_token":"a\u0000"})",
        R"({"access_token":"\u00e4"})",
        R"({"access_token":"a","refresh_token":1})",
        R"({"access_token":"a","refresh_token":"a b"})",
        R"({"access_token":"a","refresh_token":")" + std::string(4097, 'x') + R"("})",
        R"({"access_token":"a","token_type":"mac"})",
        R"({"access_token":"a","token_type":"bot"})",
        R"({"access_token":"a","token_type":1})",
        R"({"ACCESS_TOKEN":"a"})"};
    for (const std::string& body : bodies) {
        check_failure("gitlab", 200, body, Kind::Unavailable, "invalid_answer");
    }
    for (const std::string type : {R"("bearer")", R"("BEARER")", R"("Bearer")", "null"}) {
        granted("gitlab", R"({"access_token":"a","token_type":)" + type + "}");
    }
}

BOOST_AUTO_TEST_CASE(a_reply_must_be_a_json_object) {
    const std::string deep = R"({"access_token":"a","x":)" + std::string(2000, '[');
    for (const std::string& body :
         {std::string(), std::string("   "), std::string("null"), std::string("[]"),
          std::string("\"a\""), std::string("access_token=a&token_type=bearer"),
          std::string("<html>"), std::string(R"({"access_token":"a")"),
          std::string(R"({"access_token":"a"} {})"), std::string(R"({"access_token":"a",})"),
          std::string("\xff\xfe"), std::string(R"({"access_token":")") + "\xff\"}",
          std::string(R"({"access_token":"a","access_token":"b"})"),
          std::string(R"({"error":null,"error":"invalid_grant","access_token":"a"})"), deep}) {
        check_failure("gitlab", 200, body, Kind::Unavailable, "no_json");
    }
}

BOOST_AUTO_TEST_CASE(errors_are_classified_by_who_can_fix_them) {
    for (const Provider& row : providers()) {
        check_failure(row.id, 400, error("invalid_grant"), Kind::Refused, "invalid_grant");
        check_failure(row.id, 400, error("invalid_client"), Kind::Misconfigured, "invalid_client");
        check_failure(row.id, 401, error("invalid_client"), Kind::Misconfigured, "invalid_client");
        check_failure(row.id, 403, error("unauthorized_client"), Kind::Misconfigured,
                      "unauthorized_client");
        check_failure(row.id, 400, error("temporarily_unavailable"), Kind::Unavailable,
                      "temporarily_unavailable");
        check_failure(row.id, 200, error("invalid_grant"), Kind::Refused, "invalid_grant");
        // These statuses are temporary, whatever the body says.
        check_failure(row.id, 429, error("invalid_grant"), Kind::Unavailable, "http_429");
        check_failure(row.id, 503, error("invalid_grant"), Kind::Unavailable, "http_503");
        check_failure(row.id, 302, error("invalid_grant"), Kind::Unavailable, "redirect");
        check_failure(row.id, 100, "{}", Kind::Unavailable, "http_100");
    }
    check_failure("gitlab", 400, "<html>", Kind::Unavailable, "http_400");
    check_failure("gitlab", 404, "", Kind::Unavailable, "http_404");
    check_failure("gitlab", 401, "no", Kind::Misconfigured, "http_401");
    check_failure("gitlab", 401, error("invalid_grant"), Kind::Refused, "invalid_grant");
}

BOOST_AUTO_TEST_CASE(a_revocation_fails_if_the_reply_reports_an_error) {
    const auto failure = [](const char* id, int status, const std::string& body) {
        return revocation_failure(*find_provider(id), status, body).value_or("none");
    };
    BOOST_TEST(failure("google_docs", 400, error("invalid_token")) == "none");
    for (const char* body : {"", "{}", R"({"ok":true,"revoked":true})", "revoked"}) {
        BOOST_TEST(failure("slack", 200, body) == "none", body);
    }
    BOOST_TEST(failure("slack", 200, R"({"ok":false,"error":"token_revoked"})") == "none");
    BOOST_TEST(failure("gitlab", 404, "") == "none");
    BOOST_TEST(failure("slack", 200, R"({"ok":false,"error":"fatal_error"})") == "fatal_error");
    BOOST_TEST(failure("slack", 200, R"({"ok":false})") == "http_200");
    BOOST_TEST(failure("gitlab", 400, error("invalid_client")) == "invalid_client");
    BOOST_TEST(failure("gitlab", 401, error("invalid_grant")) == "invalid_grant");
    BOOST_TEST(failure("gitlab", 503, "") == "http_503");
}

BOOST_AUTO_TEST_CASE(provider_specific_errors_are_recognized) {
    const auto ok_false = [](const std::string& code) {
        return R"({"ok":false,"error":")" + code + R"("})";
    };
    check_failure("slack", 200, ok_false("invalid_code"), Kind::Refused, "invalid_code");
    check_failure("slack", 200, ok_false("invalid_refresh_token"), Kind::Refused,
                  "invalid_refresh_token");
    check_failure("slack", 200, ok_false("token_revoked"), Kind::Revoked, "token_revoked");
    check_failure("slack", 200, ok_false("bad_client_secret"), Kind::Misconfigured,
                  "bad_client_secret");
    check_failure("slack", 200, ok_false("fatal_error"), Kind::Unavailable, "fatal_error");
    check_failure("slack", 200, R"({"ok":false,"access_token":"a"})", Kind::Unavailable,
                  "http_200");
    check_failure("slack", 200, R"({"ok":"true","access_token":"a"})", Kind::Unavailable,
                  "http_200");
    check_failure("github", 200, R"({"error":"bad_refresh_token","error_description":"x"})",
                  Kind::Refused, "bad_refresh_token");
    check_failure("github", 200, R"({"error":"incorrect_client_credentials"})", Kind::Misconfigured,
                  "incorrect_client_credentials");
    check_failure("hubspot", 400, R"({"status":"BAD_REFRESH_TOKEN","message":"x"})", Kind::Refused,
                  "bad_refresh_token");
    check_failure("hubspot", 400, R"({"status":"BAD_CLIENT_ID"})", Kind::Misconfigured,
                  "bad_client_id");
    check_failure("notion", 401, R"({"object":"error","status":401,"code":"unauthorized"})",
                  Kind::Misconfigured, "unauthorized");
    check_failure("linkedin", 400, R"({"error":"invalid_request"})", Kind::Refused,
                  "invalid_request");
    check_failure("shopify", 400, R"({"error":"invalid_request"})", Kind::Refused,
                  "invalid_request");
    check_failure("youtube", 400, R"({"error":"redirect_uri_mismatch"})", Kind::Misconfigured,
                  "redirect_uri_mismatch");
    check_failure("gitlab", 400, R"({"error":"bad_refresh_token"})", Kind::Unavailable, "http_400");
    check_failure("stripe", 401, R"({"error":{"type":"invalid_request_error"}})",
                  Kind::Misconfigured, "http_401");
}

BOOST_AUTO_TEST_CASE(provider_specific_tokens_are_read) {
    const Tokens slack = granted("slack", R"({"ok":true,"access_token":"xoxb-1","token_type":"bot",
        "scope":"channels:read,users:read","team":{"name":"Rowing","id":"T1"},"error":null})");
    BOOST_TEST(slack.access_token.reveal() == "xoxb-1");
    BOOST_TEST(!slack.life.has_value());
    BOOST_TEST(slack.details == (Details{{"scope", "channels:read,users:read"},
                                         {"team.id", "T1"},
                                         {"team.name", "Rowing"}}));
    const Tokens mailchimp =
        granted("mailchimp", R"({"access_token":"m","expires_in":0,"scope":null})");
    BOOST_TEST(!mailchimp.life.has_value());
    const Tokens stripe =
        granted("stripe", R"({"access_token":"s","refresh_token":"r","expires_in":60})");
    BOOST_TEST(!stripe.life.has_value());
    BOOST_TEST(!stripe.refresh_token.has_value());
    const Tokens shopify = granted("shopify", R"({"access_token":"shpat_1","scope":"read_orders",
        "expires_in":3600,"refresh_token":"shprt_1","refresh_token_expires_in":7776000})");
    BOOST_TEST(shopify.life.value().count() == 3'600'000);
    BOOST_TEST(shopify.refresh_token.value().reveal() == "shprt_1");
    // Refresh replies of Google and others have no refresh token: the previous one is kept.
    BOOST_TEST(!granted("youtube", R"({"access_token":"a","expires_in":3599})").refresh_token);
    BOOST_TEST(!granted("notion", R"({"access_token":"a","refresh_token":null})").refresh_token);
    BOOST_TEST(!granted("sentry", R"({"access_token":"a","refresh_token":""})").refresh_token);
}

BOOST_AUTO_TEST_CASE(only_a_known_error_code_is_shown) {
    const auto code_of = [](std::string_view id, const std::string& text) {
        const auto answer = read(id, 400, R"({"error":")" + text + R"("})");
        return std::get<TokenFailure>(answer).code;
    };
    BOOST_TEST(code_of("gitlab", "Slow_Down") == "slow_down");
    BOOST_TEST(code_of("slack", "bad_redirect_uri") == "bad_redirect_uri");
    BOOST_TEST(code_of("gitlab", "bad_redirect_uri") == "http_400");  // a code of other providers
    for (const std::string text :
         {"", "Not Found", "a\\nb", "<b>", "\\u00e4", "a/b", "token=xoxb-1", "a:b", "invalid_gran",
          "invalid_grant_", "your_account_was_hacked.call-555-1234", "evil.example"}) {
        BOOST_TEST(code_of("gitlab", text) == "http_400", text);
    }
    BOOST_TEST(code_of("gitlab", "invalid_grant" + std::string(64, ' ')) == "http_400");
}

BOOST_AUTO_TEST_CASE(a_lookup_reads_all_details_or_fails) {
    const auto look = [](int status, std::string_view body) {
        return read_lookup_answer(provider("mailchimp"), status, body);
    };
    BOOST_TEST(look(200, R"({"dc":"us6","role":"owner"})").value() == (Details{{"dc", "us6"}}));
    for (const std::string_view body :
         {"", "[]", "{}", R"({"dc":null})", R"({"dc":""})", R"({"dc":true})", R"({"dc":"a\n"})",
          R"({"dc":"a","dc":"b"})", R"({"dc":{"dc":"us6"}})"}) {
        BOOST_TEST(!look(200, body).has_value(), body);
    }
    for (const int status : {0, 199, 301, 400, 401, 500}) {
        BOOST_TEST(!look(status, R"({"dc":"us6"})").has_value(), status);
    }
}

// ---------------------------------------------------------------------------- texts and times

BOOST_AUTO_TEST_CASE(an_admin_gets_an_instruction) {
    const auto advice_for = [](Kind kind, const std::string& code) {
        return failure_text(provider("google_docs"), {kind, code});
    };
    BOOST_TEST(advice_for(Kind::Refused, "invalid_grant") ==
               "Google Docs no longer accepts this authorization (invalid_grant). "
               "Connect it again.");
    BOOST_TEST(advice_for(Kind::Revoked, "token_revoked") ==
               "The access was withdrawn at Google Docs (token_revoked). Connect it again.");
    BOOST_TEST(advice_for(Kind::Misconfigured, "invalid_client") ==
               "Google Docs does not accept this installation of Muster (invalid_client). Its "
               "operator must check the configuration of Google Docs.");
    BOOST_TEST(advice_for(Kind::Unavailable, "timeout") ==
               "Google Docs did not answer in time (timeout).");
    BOOST_TEST(advice_for(Kind::Unavailable, "http_503") ==
               "Google Docs reported an internal error (http_503).");
    BOOST_TEST(advice_for(Kind::Unavailable, "no_json") ==
               "Google Docs sent a reply without a valid token (no_json).");
    BOOST_TEST(advice_for(Kind::Unavailable, "slow_down") ==
               "Google Docs returned no token (slow_down).");
}

BOOST_AUTO_TEST_CASE(no_text_exceeds_its_column) {
    for (const Provider& row : providers()) {
        for (const Kind kind :
             {Kind::Refused, Kind::Revoked, Kind::Misconfigured, Kind::Unavailable}) {
            const std::string text = failure_text(row, {kind, std::string(64, 'x')});
            BOOST_TEST(utf8_length(text) <= 255U, text);
            BOOST_TEST(text.find(row.name) != std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_CASE(tokens_are_refreshed_before_they_expire_and_at_least_daily) {
    const Timestamp now(1'000'000'000);
    const auto due = [&](bool can_refresh, std::optional<Milliseconds> life) {
        const auto at = refresh_due(can_refresh, life, now);
        return at ? std::optional(*at - now) : std::nullopt;
    };
    using namespace std::chrono;
    const std::vector<std::pair<Milliseconds, Milliseconds>> expected = {
        {seconds(1), minutes(1)},  // a very short lifetime must not keep a runner busy
        {minutes(2), minutes(1)},
        {minutes(10), minutes(5)},
        {minutes(29), seconds(870)},
        {minutes(30), minutes(15)},
        {minutes(31), minutes(16)},
        {hours(1), minutes(45)},
        {hours(24), hours(24) - minutes(15)},
        {hours(24) + minutes(15), hours(24)},
        {hours(25), hours(24)},
        {hours(24 * 60), hours(24)}};
    for (const auto& [life, wait] : expected) {
        BOOST_TEST(due(true, life) == std::optional(wait), life.count());
        BOOST_TEST(due(false, life) == std::optional(life), life.count());
    }
    BOOST_TEST(due(true, std::nullopt) == std::optional<Milliseconds>(hours(24)));
    BOOST_TEST(!due(false, std::nullopt).has_value());
}

BOOST_AUTO_TEST_CASE(the_delay_grows_with_each_failure_up_to_an_hour) {
    const std::vector<std::pair<int, int>> expected = {{-1, 1}, {0, 1},  {1, 1},         {2, 5},
                                                       {3, 15}, {4, 60}, {1'000'000, 60}};
    for (const auto& [attempts, minutes] : expected) {
        BOOST_TEST(refresh_back_off(attempts) == std::chrono::minutes(minutes), attempts);
    }
}

BOOST_AUTO_TEST_SUITE_END()
