// Connects a provider (docs/external-data.md "Connecting"): OAuth 2.0 with a single-use state that
// is valid for ten minutes and only in the browser and session that started the authorization.
// service/connections/tokens.hpp handles the tokens.
#pragma once

#include "base/faults.hpp"
#include "base/names.hpp"
#include "rules/connections/providers.hpp"
#include "service/connections/tokens.hpp"
#include "service/context.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::service {

using muster::text_of;

struct ConnectRequest {
    const rules::Provider* provider = nullptr;
    std::optional<std::string> name;  // nullopt: keep the connection's name, or use the provider's
    std::map<std::string, std::string, std::less<>> settings;
    std::optional<ConnectionId> connection;  // nullopt: create a connection
    std::optional<std::string> host;         // derived from the settings by validate_settings()
};
// Validates the settings for this provider and sets the host. Adds one fault for each unknown,
// missing or invalid setting.
void validate_settings(ConnectRequest& request, Faults& faults);

struct ConnectLink {
    ConnectionId id;
    std::string redirect_url;  // the provider's consent page, with the state
};
// Creates the connection, or uses the named one, and a state for the session; audited as
// connection.requested. A connection with tokens keeps them and its status until new tokens arrive;
// its host never changes. Throws NOT_FOUND, VALIDATION_ERROR if provider or host differ from the
// connection's, PROVIDER_UNAVAILABLE if the provider is not set up, and INVALID_STATE if the
// organization has too many connections.
ConnectLink begin_authorization(OrgTransaction& transaction, const Context& context,
                                const ConnectRequest& request, SessionId session);

// The value of the cookie that proves, at the callback, that the same browser started the
// authorization.
std::string connect_proof(const KeyRing& keys, SessionId session);

// The maximum length of a provider's authorization code. A callback with a longer one is rejected.
inline constexpr std::size_t kLongestAuthorizationCode = 4096;

// The callback request, with which the provider redirects the browser back.
struct CallbackRequest {
    std::string state;
    bool is_readable = true;  // false: a parameter other than the state was malformed or repeated
    std::optional<std::string> code;
    std::optional<std::string> issuer;
    std::optional<std::string> error;
    std::map<std::string, std::string> fields;  // parameters that some provider stores
    std::string proof;                          // from the cookie
    std::string request_id;
};
struct CallbackResult {
    enum class Reason : std::uint8_t {
        None,
        Request,        // the provider's answer could not be read
        State,          // the state is unknown or already used
        Expired,        // the state is older than ten minutes
        Removed,        // the connection was deleted in the meantime
        Browser,        // a different browser returned
        Session,        // the session has ended
        Role,           // the admin may no longer connect it
        Issuer,         // the answer names a different issuer (RFC 9207)
        Provider,       // the provider answered with an error
        Refused,        // the provider issued no tokens for the code
        Configuration,  // the provider does not accept this installation
        Unavailable,    // the provider could not be reached
    };
    enum class Outcome : std::uint8_t { Connected, Denied, Failed };
    Outcome outcome = Outcome::Failed;
    Reason reason = Reason::None;
    std::optional<ConnectionId> connection;  // nullopt if the browser must not learn it
};

// Uses up the state, checks browser, session and answer, and exchanges the code for tokens. On
// failure, a connection that never had tokens stores the reason as its error. `try_acquire` is
// called before the state is used up for a call to the provider; if it returns false,
// SERVICE_UNAVAILABLE is thrown and the state remains valid.
CallbackResult complete_authorization(Context& context, const CallbackRequest& request,
                                      const TryAcquire& try_acquire);

}  // namespace muster::service

namespace muster {

template <>
inline constexpr std::array kNames<service::CallbackResult::Reason> = {
    Name{service::CallbackResult::Reason::None, ""},
    Name{service::CallbackResult::Reason::Request, "request"},
    Name{service::CallbackResult::Reason::State, "state"},
    Name{service::CallbackResult::Reason::Expired, "expired"},
    Name{service::CallbackResult::Reason::Removed, "removed"},
    Name{service::CallbackResult::Reason::Browser, "browser"},
    Name{service::CallbackResult::Reason::Session, "session"},
    Name{service::CallbackResult::Reason::Role, "role"},
    Name{service::CallbackResult::Reason::Issuer, "issuer"},
    Name{service::CallbackResult::Reason::Provider, "provider"},
    Name{service::CallbackResult::Reason::Refused, "refused"},
    Name{service::CallbackResult::Reason::Configuration, "configuration"},
    Name{service::CallbackResult::Reason::Unavailable, "unavailable"}};
template <>
inline constexpr std::array kNames<service::CallbackResult::Outcome> = {
    Name{service::CallbackResult::Outcome::Connected, "connected"},
    Name{service::CallbackResult::Outcome::Denied, "denied"},
    Name{service::CallbackResult::Outcome::Failed, "failed"}};

}  // namespace muster
