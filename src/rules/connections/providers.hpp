// The third-party products that an organization can connect (specification 2.13): one row each
// holds all that there is to know about one as an OAuth 2.0 authorization server. How to add one: a
// row in providers.cpp; catalogue, configuration, connecting and refreshing follow
// (docs/external-data.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster::rules {

// How the token endpoint learns who we are (RFC 6749 section 2.3.1).
enum class ClientAuth : std::uint8_t { Body, Basic };
// What a token request looks like; RFC 6749 knows forms alone.
enum class TokenBody : std::uint8_t { Form, Json };
enum class Pkce : std::uint8_t { S256, None };
// When an access token ends: as the answer's expires_in says (never, where it says nothing), or
// never, whatever it says.
enum class TokenLife : std::uint8_t { AsAnswered, Endless };
// Whether a refresh token is of use to us.
enum class Refresh : std::uint8_t { WithToken, Never };
// How a token is given back when a connection is deleted.
enum class Revocation : std::uint8_t {
    None,
    Form,   // RFC 7009
    Json,   // the same fields as JSON
    Token,  // a form with the token alone: no client says who it is
};
// Which of the two is given back: the refresh token, where there is one, or the access token.
enum class RevokedToken : std::uint8_t { Refresh, Access };

// Where the place of "{host}" in a row's URLs comes from.
enum class HostSource : std::uint8_t {
    None,
    // The admin who connects names it, in settings; only below a domain of the provider's own,
    // because our client secret is sent there.
    Settings,
    // The operator does, in the configuration: an installation of one's own.
    Configuration,
};

struct HostRule {
    HostSource source = HostSource::None;
    std::string_view setting = {};   // "shop": the key in settings
    std::string_view suffix = {};    // ".myshopify.com": of a host from settings; may be left out
    std::string_view fallback = {};  // a host from the configuration, where it names none
};

struct Parameter {
    std::string_view name;
    std::string_view value;
};
inline constexpr std::size_t kMostParameters = 2;
inline constexpr std::size_t kMostNames = 4;
using Names = std::array<std::string_view, kMostNames>;  // "" behind the last one

struct Provider {
    std::string_view id;    // "google_docs"
    std::string_view name;  // "Google Docs"
    std::string_view description;
    std::string_view authorize_url;
    std::string_view token_url;
    // What RFC 9207's `iss` must be, where it is sent; "": the origin of authorize_url.
    std::string_view issuer = {};
    std::string_view scopes = {};  // separated by spaces here; "": none are asked for
    char scope_separator = ' ';    // on the wire
    Pkce pkce = Pkce::S256;
    ClientAuth client_auth = ClientAuth::Body;
    TokenBody token_body = TokenBody::Form;
    // Of the authorization request, behind the standard's own.
    std::array<Parameter, kMostParameters> extra = {};
    // Of the request that makes tokens of a code.
    std::array<Parameter, kMostParameters> code_extra = {};
    HostRule host = {};
    // Of the callback and of the token's answer: what is kept with the connection.
    Names callback_fields = {};
    Names answer_fields = {};
    TokenLife life = TokenLife::AsAnswered;
    Refresh refresh = Refresh::WithToken;
    // Asked for with the new token ("Authorization: OAuth <token>"), and what of its answer is
    // kept.
    std::string_view lookup_url = {};
    Names lookup_fields = {};
    Revocation revocation = Revocation::None;
    std::string_view revoke_url = {};
    RevokedToken revoked_token = RevokedToken::Refresh;
    // What token_type may say beside "bearer".
    Names token_types = {};
    // Error codes, in lower case, beside invalid_grant that end a connection until somebody
    // connects anew; those that say that the access was taken back; those beside invalid_client and
    // unauthorized_client that say that we are not accepted as a client.
    Names refusals = {};
    Names revocations = {};
    Names misconfigurations = {};
};

// All of them, in the order of the specification.
std::span<const Provider> providers();
// nullptr for any other.
const Provider* find_provider(std::string_view id);

}  // namespace muster::rules
