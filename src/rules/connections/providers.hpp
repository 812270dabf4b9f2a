// The third-party products that an organization can connect (specification 2.13). A row holds all
// facts about a product as an OAuth 2.0 authorization server. To add a provider, add a row to
// providers.cpp; the catalog, the configuration, connecting and refreshing follow from it
// (docs/external-data.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster::rules {

// How the client authenticates to the token endpoint (RFC 6749 section 2.3.1).
enum class ClientAuth : std::uint8_t { Body, Basic };
// The format of a token request. RFC 6749 defines only forms.
enum class TokenBody : std::uint8_t { Form, Json };
enum class Pkce : std::uint8_t { S256, None };
// AsAnswered: the access token expires after expires_in, or never if that is missing. Endless: it
// never expires, whatever expires_in says.
enum class TokenLife : std::uint8_t { AsAnswered, Endless };
// Whether a refresh token is used.
enum class Refresh : std::uint8_t { WithToken, Never };
// How a token is revoked when a connection is deleted.
enum class Revocation : std::uint8_t {
    None,
    Form,   // RFC 7009
    Json,   // the same fields as JSON
    Token,  // a form with only the token, without client credentials
};
// The token to revoke. Refresh: the refresh token if there is one, otherwise the access token.
enum class RevokedToken : std::uint8_t { Refresh, Access };

// The source of the "{host}" in a row's URLs.
enum class HostSource : std::uint8_t {
    None,
    // The connecting admin gives it in settings. It must be below the provider's domain, because
    // the client secret is sent there.
    Settings,
    // The operator gives it in the configuration: a self-hosted instance.
    Configuration,
};

struct HostRule {
    HostSource source = HostSource::None;
    std::string_view setting = {};  // "shop": the key in settings
    std::string_view suffix = {};   // ".myshopify.com": appended to a host from settings if missing
    std::string_view fallback = {};  // the host if none is configured
};

struct Parameter {
    std::string_view name;
    std::string_view value;
};
inline constexpr std::size_t kMostParameters = 2;
inline constexpr std::size_t kMostNames = 4;
using Names = std::array<std::string_view, kMostNames>;  // unused entries at the end are ""

struct Provider {
    std::string_view id;    // "google_docs"
    std::string_view name;  // "Google Docs"
    std::string_view description;
    std::string_view authorize_url;
    std::string_view token_url;
    // The expected `iss` of RFC 9207, if it is sent. "": the origin of authorize_url.
    std::string_view issuer = {};
    std::string_view scopes = {};  // separated by spaces; "": none are requested
    char scope_separator = ' ';    // in the request
    Pkce pkce = Pkce::S256;
    ClientAuth client_auth = ClientAuth::Body;
    TokenBody token_body = TokenBody::Form;
    // Additional parameters of the authorization request.
    std::array<Parameter, kMostParameters> extra = {};
    // Additional parameters of the request that exchanges a code for tokens.
    std::array<Parameter, kMostParameters> code_extra = {};
    HostRule host = {};
    // Fields of the callback and of the token reply that are stored with the connection.
    Names callback_fields = {};
    Names answer_fields = {};
    TokenLife life = TokenLife::AsAnswered;
    Refresh refresh = Refresh::WithToken;
    // Called with the new token ("Authorization: OAuth <token>"), and the stored fields of its
    // reply.
    std::string_view lookup_url = {};
    Names lookup_fields = {};
    Revocation revocation = Revocation::None;
    std::string_view revoke_url = {};
    RevokedToken revoked_token = RevokedToken::Refresh;
    // Accepted values of token_type in addition to "bearer".
    Names token_types = {};
    // Error codes in lower case. refusals, like invalid_grant: the connection has expired and must
    // be connected again. revocations: access was withdrawn. misconfigurations, like invalid_client
    // and unauthorized_client: the client was rejected.
    Names refusals = {};
    Names revocations = {};
    Names misconfigurations = {};
};

// All providers, in the order of the specification.
std::span<const Provider> providers();
// nullptr if there is no such provider.
const Provider* find_provider(std::string_view id);

}  // namespace muster::rules
