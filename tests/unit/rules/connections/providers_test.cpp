// rules/connections/providers.hpp and the requests of rules/connections/oauth.hpp: the complete
// requests to each provider, so that a change of a row requires a change of this table.
#include "rules/connections/providers.hpp"

#include "base/json.hpp"
#include "base/settings/checks.hpp"
#include "base/text.hpp"
#include "rules/connections/oauth.hpp"

#include "print.hpp"

#include <set>

using namespace muster;
using namespace muster::rules;

namespace {

// The verifier and challenge of RFC 7636, appendix B.
constexpr const char* kVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr const char* kCallback = "https://console.example/v1/external-data/callback";
constexpr const char* kSecret = "s3cret/+ &";
// Base64 of client-1:s3cret%2F%2B%20%26
constexpr const char* kBasic = "Basic Y2xpZW50LTE6czNjcmV0JTJGJTJCJTIwJTI2";

enum class Sent : std::uint8_t { Body, Basic, Json };

struct Expected {
    std::string_view provider;
    std::string_view authorize;
    std::string_view token_url;
    std::string_view code;     // the body of the token request
    std::string_view refresh;  // the body of the refresh request
    Sent client;
};
constexpr std::array
    kExpected =
        {
            Expected{
                "google_analytics",
                "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fanalytics.readonly&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&access_type=offline&prompt=consent",
                "https://oauth2.googleapis.com/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "notion",
                "https://api.notion.com/v1/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&owner=user",
                "https://api.notion.com/v1/oauth/token",
                "{\"grant_type\":\"authorization_code\",\"code\":\"code/1\",\"redirect_uri\":\"https://console.example/v1/external-data/callback\",\"code_verifier\":\"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\"}",
                "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"refresh/1\"}", Sent::Json},
            Expected{
                "google_docs",
                "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdocuments.readonly%20https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdrive.metadata.readonly&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&access_type=offline&prompt=consent",
                "https://oauth2.googleapis.com/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "slack",
                "https://slack.com/oauth/v2/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=channels%3Aread%2Cusers%3Aread&state=state-1",
                "https://slack.com/api/oauth.v2.access",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback",
                "grant_type=refresh_token&refresh_token=refresh%2F1", Sent::Basic},
            Expected{
                "linkedin",
                "https://www.linkedin.com/oauth/v2/authorization?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=openid%20profile%20w_member_social&state=state-1",
                "https://www.linkedin.com/oauth/v2/accessToken",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "shopify", "https://acme.myshopify.com/admin/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=read_customers%2Cread_orders&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256", "https://acme.myshopify.com/admin/oauth/access_token", "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&expiring=1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "hubspot",
                "https://app.hubspot.com/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=oauth%20crm.objects.contacts.read%20crm.objects.companies.read&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://api.hubapi.com/oauth/2026-03/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "sentry",
                "https://sentry.io/oauth/authorize/?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=org%3Aread%20project%3Aread%20event%3Aread&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://sentry.io/oauth/token/",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "posthog",
                "https://oauth.posthog.com/oauth/authorize/?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=project%3Aread%20query%3Aread&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://oauth.posthog.com/oauth/token/",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{"stripe",
                     "https://connect.stripe.com/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=read_only&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256", "https://connect.stripe.com/oauth/token", "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                     "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                     Sent::Body},
            Expected{
                "mailchimp",
                "https://login.mailchimp.com/oauth2/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://login.mailchimp.com/oauth2/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "quickbooks",
                "https://appcenter.intuit.com/connect/oauth2?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=com.intuit.quickbooks.accounting&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                "grant_type=refresh_token&refresh_token=refresh%2F1", Sent::Basic},
            Expected{
                "github",
                "https://github.com/login/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=read%3Auser%20read%3Aorg&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://github.com/login/oauth/access_token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "gitlab",
                "https://gitlab.com/oauth/authorize?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=read_api&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                "https://gitlab.com/oauth/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
            Expected{
                "youtube",
                "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=client-1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fyoutube.readonly%20https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fyt-analytics.readonly&state=state-1&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&access_type=offline&prompt=consent",
                "https://oauth2.googleapis.com/token",
                "grant_type=authorization_code&code=code%2F1&redirect_uri=https%3A%2F%2Fconsole.example%2Fv1%2Fexternal-data%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                "grant_type=refresh_token&refresh_token=refresh%2F1&client_id=client-1&client_secret=s3cret%2F%2B%20%26",
                Sent::Body},
};

ProvidersSettings configured() {
    ProvidersSettings settings;
    for (const Provider& provider : providers()) {
        settings[std::string(provider.id)] = {.client_id = "client-1",
                                              .client_secret = Secret(kSecret),
                                              .host = "",
                                              .scopes = "",
                                              .authorize_url = "",
                                              .token_url = "",
                                              .issuer = "",
                                              .lookup_url = "",
                                              .revoke_url = "",
                                              .ca_file = "/etc/ca.pem"};
    }
    return settings;
}

OAuthClient client_of(std::string_view id) {
    const Provider& provider = *find_provider(id);
    const bool has_host = provider.host.source == HostSource::Settings;
    return oauth_client(provider, configured(), has_host ? "acme.myshopify.com" : "");
}

AuthorizationRequest authorization_request() {
    return {.redirect_uri = kCallback, .state = "state-1", .verifier = kVerifier};
}

using Headers = std::vector<std::pair<std::string, std::string>>;

Headers headers_of(Sent client) {
    Headers headers = {
        {"Accept", "application/json"},
        {"Content-Type",
         client == Sent::Json ? "application/json" : "application/x-www-form-urlencoded"}};
    if (client != Sent::Body) headers.emplace_back("Authorization", kBasic);
    return headers;
}

void check(const OAuthRequest& made, std::string_view url, const Headers& headers,
           std::string_view body) {
    BOOST_TEST(made.url == url);
    BOOST_TEST(made.headers == headers);
    BOOST_TEST(made.body.value().reveal() == body);
    BOOST_TEST(made.ca_file == "/etc/ca.pem");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(providers_of_external_data)

BOOST_AUTO_TEST_CASE(the_fifteen_providers_have_the_order_of_the_specification) {
    std::vector<std::string_view> ids;
    std::vector<std::string_view> expected;
    for (const Provider& provider : providers()) ids.push_back(provider.id);
    for (const Expected& row : kExpected) expected.push_back(row.provider);
    BOOST_TEST(ids == expected, boost::test_tools::per_element());
    for (const std::string_view id : ids) BOOST_TEST(find_provider(id)->id == id);
    for (const std::string_view id : {"", "Slack", "slack ", "googledocs", "x"}) {
        BOOST_TEST(find_provider(id) == nullptr);
    }
}

BOOST_AUTO_TEST_CASE(each_row_is_complete) {
    std::set<std::string_view> names;
    for (const Provider& row : providers()) {
        BOOST_TEST_CONTEXT(row.id) {
            BOOST_TEST(names.insert(row.name).second);
            BOOST_TEST(!row.description.empty());
            BOOST_TEST(row.description.size() <= 255U);
            const bool has_host = row.host.source != HostSource::None;
            for (const std::string_view url : {row.authorize_url, row.token_url}) {
                BOOST_TEST(url.starts_with("https://"));
                BOOST_TEST((url.find("{host}") != std::string_view::npos) == has_host);
            }
            BOOST_TEST(row.lookup_url.empty() == row.lookup_fields[0].empty());
            BOOST_TEST(row.revoke_url.empty() == (row.revocation == Revocation::None));
            BOOST_TEST((row.host.source == HostSource::Settings) == !row.host.suffix.empty());
            BOOST_TEST((row.host.source == HostSource::Settings) == !row.host.setting.empty());
            BOOST_TEST((row.host.source == HostSource::Configuration) ==
                       !row.host.fallback.empty());
            const bool has_pkce = row.id != "slack" && row.id != "linkedin";
            BOOST_TEST((row.pkce == Pkce::S256) == has_pkce);
        }
    }
}

BOOST_AUTO_TEST_CASE(each_authorization_request_matches_the_documentation_of_the_provider) {
    for (const Expected& row : kExpected) {
        BOOST_TEST(authorization_url(client_of(row.provider), authorization_request()) ==
                   row.authorize);
    }
}

BOOST_AUTO_TEST_CASE(each_token_request_matches_the_documentation_of_the_provider) {
    for (const Expected& row : kExpected) {
        BOOST_TEST_CONTEXT(row.provider) {
            const OAuthClient client = client_of(row.provider);
            const Headers headers = headers_of(row.client);
            check(code_request(client, authorization_request(), "code/1"), row.token_url, headers,
                  row.code);
            check(refresh_request(client, Secret("refresh/1")), row.token_url, headers,
                  row.refresh);
        }
    }
}

BOOST_AUTO_TEST_CASE(each_revocable_token_has_a_revocation_request) {
    struct Revoked {
        std::string_view provider;
        std::string_view url;
        std::string_view body;
        Headers headers;
    };
    const std::string client = "&client_id=client-1&client_secret=s3cret%2F%2B%20%26";
    const std::string with_client = "token=t%2F1" + client;
    const std::vector<Revoked> expected = {
        {"google_analytics", "https://oauth2.googleapis.com/revoke", "token=t%2F1",
         headers_of(Sent::Body)},
        {"notion", "https://api.notion.com/v1/oauth/revoke", R"({"token":"t/1"})",
         headers_of(Sent::Json)},
        {"google_docs", "https://oauth2.googleapis.com/revoke", "token=t%2F1",
         headers_of(Sent::Body)},
        {"slack", "https://slack.com/api/auth.revoke", "token=t%2F1", headers_of(Sent::Body)},
        {"hubspot", "https://api.hubapi.com/oauth/2026-03/token/revoke", with_client,
         headers_of(Sent::Body)},
        {"posthog", "https://oauth.posthog.com/oauth/revoke/", with_client, headers_of(Sent::Body)},
        {"quickbooks", "https://developer.api.intuit.com/v2/oauth2/tokens/revoke",
         R"({"token":"t/1"})", headers_of(Sent::Json)},
        {"gitlab", "https://gitlab.com/oauth/revoke", with_client, headers_of(Sent::Body)},
        {"youtube", "https://oauth2.googleapis.com/revoke", "token=t%2F1", headers_of(Sent::Body)},
    };
    std::set<std::string_view> ids;
    for (const Revoked& row : expected) {
        BOOST_TEST_CONTEXT(row.provider) {
            check(revocation_request(client_of(row.provider), Secret("t/1")), row.url, row.headers,
                  row.body);
            ids.insert(row.provider);
        }
    }
    for (const Provider& row : providers()) {
        BOOST_TEST((row.revocation != Revocation::None) == ids.contains(row.id), row.id);
    }
}

BOOST_AUTO_TEST_CASE(the_refresh_token_is_revoked_unless_only_the_access_token_can_be) {
    const Secret access("a");
    const std::optional<Secret> refresh(Secret("r"));
    for (const Provider& row : providers()) {
        const bool is_access = row.id == "notion" || row.id == "slack";
        BOOST_TEST(token_to_revoke(row, access, refresh).reveal() == (is_access ? "a" : "r"),
                   row.id);
        BOOST_TEST(token_to_revoke(row, access, std::nullopt).reveal() == "a", row.id);
    }
}

BOOST_AUTO_TEST_CASE(only_mailchimp_has_a_lookup_request_with_the_new_token) {
    const OAuthRequest made = lookup_request(client_of("mailchimp"), Secret("t-1"));
    BOOST_TEST(made.url == "https://login.mailchimp.com/oauth2/metadata");
    const Headers headers = {{"Accept", "application/json"}, {"Authorization", "OAuth t-1"}};
    BOOST_TEST(made.headers == headers);
    BOOST_TEST(!made.body.has_value());
    for (const Provider& row : providers()) {
        BOOST_TEST(client_of(row.id).lookup_url.empty() == (row.id != "mailchimp"), row.id);
    }
}

BOOST_AUTO_TEST_CASE(each_provider_has_its_issuer) {
    for (const Provider& row : providers()) {
        const std::string issuer = client_of(row.id).issuer;
        if (row.id == "quickbooks") {
            BOOST_TEST(issuer == "https://oauth.platform.intuit.com/op/v1");
        } else {
            BOOST_TEST(client_of(row.id).authorize_url.starts_with(issuer + "/"), row.id);
        }
    }
    BOOST_TEST(client_of("youtube").issuer == "https://accounts.google.com");
    BOOST_TEST(client_of("shopify").issuer == "https://acme.myshopify.com");
}

BOOST_AUTO_TEST_SUITE_END()
