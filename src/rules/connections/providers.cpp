#include "rules/connections/providers.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

// For all three Google providers: developers.google.com/identity/protocols/oauth2/web-server.
// access_type=offline is needed to get a refresh token. prompt=consent is needed to get one at
// every consent, not only at the first. A token is revoked without client credentials; this revokes
// the whole consent.
constexpr std::string_view kGoogleAuthorize = "https://accounts.google.com/o/oauth2/v2/auth";
constexpr std::string_view kGoogleToken = "https://oauth2.googleapis.com/token";
constexpr std::string_view kGoogleRevoke = "https://oauth2.googleapis.com/revoke";
constexpr std::string_view kGoogleIssuer = "https://accounts.google.com";
constexpr std::array<Parameter, kMostParameters> kGoogleExtra = {
    {{"access_type", "offline"}, {"prompt", "consent"}}};
constexpr Names kGoogleMisconfigurations = {"redirect_uri_mismatch", "deleted_client",
                                            "disabled_client"};

constexpr std::array kProviders = {
    Provider{
        .id = "google_analytics",
        .name = "Google Analytics",
        .description = "Reads reports of your web analytics.",
        .authorize_url = kGoogleAuthorize,
        .token_url = kGoogleToken,
        .issuer = kGoogleIssuer,
        // developers.google.com/analytics/devguides/reporting/data/v1
        .scopes = "https://www.googleapis.com/auth/analytics.readonly",
        .extra = kGoogleExtra,
        .revocation = Revocation::Token,
        .revoke_url = kGoogleRevoke,
        .misconfigurations = kGoogleMisconfigurations,
    },
    // developers.notion.com/guides/get-started/authorization. There are no scopes: the admin
    // selects the pages. Token and revocation requests are JSON. A refresh replaces both tokens.
    Provider{
        .id = "notion",
        .name = "Notion",
        .description = "Reads the pages and databases that you share.",
        .authorize_url = "https://api.notion.com/v1/oauth/authorize",
        .token_url = "https://api.notion.com/v1/oauth/token",
        .client_auth = ClientAuth::Basic,
        .token_body = TokenBody::Json,
        .extra = {{{"owner", "user"}}},
        .answer_fields = {"workspace_id", "workspace_name"},
        .revocation = Revocation::Json,
        .revoke_url = "https://api.notion.com/v1/oauth/revoke",
        .revoked_token = RevokedToken::Access,
    },
    Provider{
        .id = "google_docs",
        .name = "Google Docs",
        .description = "Reads your documents and finds them by name.",
        .authorize_url = kGoogleAuthorize,
        .token_url = kGoogleToken,
        .issuer = kGoogleIssuer,
        // developers.google.com/workspace/docs/api/auth: only Drive can list documents.
        .scopes = "https://www.googleapis.com/auth/documents.readonly "
                  "https://www.googleapis.com/auth/drive.metadata.readonly",
        .extra = kGoogleExtra,
        .revocation = Revocation::Token,
        .revoke_url = kGoogleRevoke,
        .misconfigurations = kGoogleMisconfigurations,
    },
    // docs.slack.dev/authentication/installing-with-oauth, docs.slack.dev/reference/methods. Errors
    // come in a 200 as {"ok":false,"error":…}. The token type is "bot". Tokens expire only if the
    // app uses token rotation. PKCE would permanently make the app a public client
    // (docs.slack.dev/authentication/using-pkce). Slack recommends Basic. auth.revoke accepts only
    // the access token.
    Provider{
        .id = "slack",
        .name = "Slack",
        .description = "Reads the channels and people of your workspace.",
        .authorize_url = "https://slack.com/oauth/v2/authorize",
        .token_url = "https://slack.com/api/oauth.v2.access",
        .scopes = "channels:read users:read",
        .scope_separator = ',',
        .pkce = Pkce::None,
        .client_auth = ClientAuth::Basic,
        .answer_fields = {"team.id", "team.name"},
        .revocation = Revocation::Token,
        .revoke_url = "https://slack.com/api/auth.revoke",
        .revoked_token = RevokedToken::Access,
        .token_types = {"bot", "user"},
        .refusals = {"invalid_code", "code_already_used", "invalid_refresh_token", "token_expired"},
        .revocations = {"token_revoked", "account_inactive"},
        .misconfigurations = {"invalid_client_id", "bad_client_secret", "bad_redirect_uri",
                              "oauth_authorization_url_mismatch"},
    },
    // learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow. Access tokens
    // live for 60 days. Only approved partners get refresh tokens (…/programmatic-refresh-tokens),
    // so most connections expire. These scopes are open to every app. Reading a company's page
    // (r_organization_social) requires LinkedIn's approval and the setting `scopes`. An invalid
    // code is reported as invalid_request. PKCE is for native clients, which use a different
    // authorization page.
    Provider{
        .id = "linkedin",
        .name = "LinkedIn",
        .description = "Reads your profile and can post on your behalf.",
        .authorize_url = "https://www.linkedin.com/oauth/v2/authorization",
        .token_url = "https://www.linkedin.com/oauth/v2/accessToken",
        .issuer = "https://www.linkedin.com/oauth",
        .scopes = "openid profile w_member_social",
        .pkce = Pkce::None,
        .refusals = {"invalid_request"},
    },
    // shopify.dev/docs/apps/build/authentication-authorization/access-tokens. Each shop is its own
    // authorization server. Its host must be below Shopify's domain, because the client secret is
    // sent there. Without expiring=1 the token would not expire, and Shopify's API rejects such
    // tokens from public apps. With it, the token lives for an hour and comes with a rotating
    // refresh token. Replies have no token_type. An invalid code is reported as invalid_request.
    Provider{
        .id = "shopify",
        .name = "Shopify",
        .description = "Reads customers and orders of your shop.",
        .authorize_url = "https://{host}/admin/oauth/authorize",
        .token_url = "https://{host}/admin/oauth/access_token",
        .scopes = "read_customers read_orders",
        .scope_separator = ',',
        .code_extra = {{{"expiring", "1"}}},
        .host = {.source = HostSource::Settings, .setting = "shop", .suffix = ".myshopify.com"},
        .refusals = {"invalid_request"},
        .misconfigurations = {"application_cannot_be_found"},
    },
    // developers.hubspot.com/docs/api-reference/latest/authentication/manage-oauth-tokens: the
    // dated endpoints; /oauth/v1/token ends in February 2027. Access tokens live for 30 minutes.
    // Errors may have their code in `status`, in capitals.
    Provider{
        .id = "hubspot",
        .name = "HubSpot",
        .description = "Reads contacts and companies of your CRM.",
        .authorize_url = "https://app.hubspot.com/oauth/authorize",
        .token_url = "https://api.hubapi.com/oauth/2026-03/token",
        .scopes = "oauth crm.objects.contacts.read crm.objects.companies.read",
        .answer_fields = {"hub_id"},
        .revocation = Revocation::Form,
        .revoke_url = "https://api.hubapi.com/oauth/2026-03/token/revoke",
        .refusals = {"bad_refresh_token", "bad_auth_code", "mismatch_redirect_uri_auth_code"},
        .misconfigurations = {"bad_client_id", "bad_client_secret", "bad_redirect_uri"},
    },
    // docs.sentry.io/api/auth and sentry.io/.well-known/oauth-authorization-server. There is no
    // revocation endpoint. Only the operator may configure a self-hosted instance, never a tenant,
    // because the client secret is sent there.
    Provider{
        .id = "sentry",
        .name = "Sentry",
        .description = "Reads projects and errors of your organization.",
        .authorize_url = "https://{host}/oauth/authorize/",
        .token_url = "https://{host}/oauth/token/",
        .scopes = "org:read project:read event:read",
        .host = {.source = HostSource::Configuration, .fallback = "sentry.io"},
    },
    // posthog.com/docs/api/oauth. oauth.posthog.com serves both regions. `host` names one region
    // (us.posthog.com, eu.posthog.com) or a self-hosted instance. Only the operator may set it,
    // never a tenant, because the client secret is sent there. Refresh tokens rotate.
    Provider{
        .id = "posthog",
        .name = "PostHog",
        .description = "Reads projects and queries of your product analytics.",
        .authorize_url = "https://{host}/oauth/authorize/",
        .token_url = "https://{host}/oauth/token/",
        .scopes = "project:read query:read",
        .host = {.source = HostSource::Configuration, .fallback = "oauth.posthog.com"},
        .revocation = Revocation::Form,
        .revoke_url = "https://{host}/oauth/revoke/",
    },
    // docs.stripe.com/connect/oauth-reference. The client secret is the platform's secret key. The
    // access token belongs to the connected account and does not expire, so the refresh token is
    // not needed. stripe_user_id identifies the account.
    Provider{
        .id = "stripe",
        .name = "Stripe",
        .description = "Reads payments and customers of your account.",
        .authorize_url = "https://connect.stripe.com/oauth/authorize",
        .token_url = "https://connect.stripe.com/oauth/token",
        .scopes = "read_only",
        .answer_fields = {"stripe_user_id"},
        .life = TokenLife::Endless,
        .refresh = Refresh::Never,
    },
    // mailchimp.com/developer/marketing/guides/access-user-data-oauth-2. There are no scopes. The
    // token does not expire, although its expires_in is 0. A look-up with the new token gives the
    // account's data center (`dc`), which every API call needs.
    Provider{
        .id = "mailchimp",
        .name = "Mailchimp",
        .description = "Reads audiences and campaigns of your email marketing.",
        .authorize_url = "https://login.mailchimp.com/oauth2/authorize",
        .token_url = "https://login.mailchimp.com/oauth2/token",
        .life = TokenLife::Endless,
        .refresh = Refresh::Never,
        .lookup_url = "https://login.mailchimp.com/oauth2/metadata",
        .lookup_fields = {"dc"},
    },
    // developer.intuit.com/app/developer/qbo/docs/develop/authentication-and-authorization/oauth-2.0
    // and its discovery document. Only the callback gives the chosen company (`realmId`). There is
    // no read-only scope. Refresh tokens rotate about daily.
    Provider{
        .id = "quickbooks",
        .name = "QuickBooks",
        .description = "Reads invoices and customers of your accounting.",
        .authorize_url = "https://appcenter.intuit.com/connect/oauth2",
        .token_url = "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
        .issuer = "https://oauth.platform.intuit.com/op/v1",
        .scopes = "com.intuit.quickbooks.accounting",
        .client_auth = ClientAuth::Basic,
        .callback_fields = {"realmId"},
        .revocation = Revocation::Json,
        .revoke_url = "https://developer.api.intuit.com/v2/oauth2/tokens/revoke",
    },
    // docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps. Replies are forms
    // unless JSON is requested, and errors come in a 200. Tokens of an OAuth app do not expire.
    // Tokens of a GitHub App live for eight hours and come with a rotating refresh token. Only the
    // operator may configure a GitHub Enterprise Server, never a tenant, because the client secret
    // is sent there.
    Provider{
        .id = "github",
        .name = "GitHub",
        .description = "Reads your profile, organizations and public repositories.",
        .authorize_url = "https://{host}/login/oauth/authorize",
        .token_url = "https://{host}/login/oauth/access_token",
        .issuer = "https://{host}/login/oauth",
        .scopes = "read:user read:org",
        .host = {.source = HostSource::Configuration, .fallback = "github.com"},
        .refusals = {"bad_verification_code", "bad_refresh_token"},
        .misconfigurations = {"incorrect_client_credentials", "redirect_uri_mismatch"},
    },
    // docs.gitlab.com/api/oauth2. Access tokens live for two hours; refresh tokens rotate. Only the
    // operator may configure a self-hosted instance, never a tenant, because the client secret is
    // sent there.
    Provider{
        .id = "gitlab",
        .name = "GitLab",
        .description = "Reads projects, issues and merge requests.",
        .authorize_url = "https://{host}/oauth/authorize",
        .token_url = "https://{host}/oauth/token",
        .scopes = "read_api",
        .host = {.source = HostSource::Configuration, .fallback = "gitlab.com"},
        .revocation = Revocation::Form,
        .revoke_url = "https://{host}/oauth/revoke",
    },
    Provider{
        .id = "youtube",
        .name = "YouTube",
        .description = "Reads your channel, its videos and their reports.",
        .authorize_url = kGoogleAuthorize,
        .token_url = kGoogleToken,
        .issuer = kGoogleIssuer,
        // developers.google.com/youtube/reporting/guides/authorization
        .scopes = "https://www.googleapis.com/auth/youtube.readonly "
                  "https://www.googleapis.com/auth/yt-analytics.readonly",
        .extra = kGoogleExtra,
        .revocation = Revocation::Token,
        .revoke_url = kGoogleRevoke,
        .misconfigurations = kGoogleMisconfigurations,
    },
};

}  // namespace

std::span<const Provider> providers() {
    return kProviders;
}

const Provider* find_provider(std::string_view id) {
    const auto* found = std::find_if(kProviders.begin(), kProviders.end(),
                                     [&](const Provider& row) { return row.id == id; });
    return found == kProviders.end() ? nullptr : found;
}

}  // namespace muster::rules
