// An admin's way to a provider's page and back (docs/external-data.md "Connecting"): OAuth 2.0 with
// a state that counts once, for ten minutes, and only in the browser and the session that set out.
// The tokens are in service/connections/tokens.hpp.
#pragma once

#include "base/faults.hpp"
#include "rules/connections/providers.hpp"
#include "service/connections/tokens.hpp"
#include "service/context.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::service {

struct ConnectRequest {
    const rules::Provider* provider = nullptr;
    std::optional<std::string> name;  // nullopt: the provider's, or the connection's own
    std::map<std::string, std::string, std::less<>> settings;
    std::optional<ConnectionId> connection;  // nullopt: a new one
    std::optional<std::string> host;         // what the settings come to (validate_settings)
};
// Holds the settings against the provider's row and fills in the host; a fault each for what is
// unknown, missing or bad.
void validate_settings(ConnectRequest& request, Faults& faults);

struct ConnectLink {
    ConnectionId id;
    std::string redirect_url;  // the provider's page; holds the state
};
// Makes the connection, or takes the one that is named, and a state for that session; audited as
// connection.requested. A connection that has tokens keeps them and its status until new ones come,
// and its host for good. Throws NOT_FOUND, VALIDATION_ERROR for another provider or host than the
// connection's, PROVIDER_UNAVAILABLE, and INVALID_STATE where the organization has too many.
ConnectLink begin_authorization(OrgTransaction& transaction, const Context& context,
                                const ConnectRequest& request, SessionId session);

// The value of the cookie that proves on the callback that the same browser began.
std::string connect_proof(const KeyRing& keys, SessionId session);

// What the provider sent with the browser.
struct CallbackRequest {
    std::string state;
    bool is_readable = true;  // false: something beside the state was malformed or came twice
    std::optional<std::string> code;
    std::optional<std::string> issuer;
    std::optional<std::string> error;
    std::map<std::string, std::string> fields;  // what some row or other keeps
    std::string proof;                          // of the cookie
    std::string request_id;
};
struct CallbackResult {
    enum class Reason : std::uint8_t {
        None,
        Request,        // the provider's answer could not be read
        State,          // nobody set out with it, or it was used
        Expired,        // ten minutes are over
        Removed,        // the connection was deleted meanwhile
        Browser,        // another one came back
        Session,        // it has ended
        Role,           // the admin may not connect there any more
        Issuer,         // another server answered than was asked (RFC 9207)
        Provider,       // it answered with an error
        Refused,        // it gave no tokens for the code
        Configuration,  // it does not accept this installation
        Unavailable,    // it could not be asked
    };
    enum class Outcome : std::uint8_t { Connected, Denied, Failed };
    Outcome outcome = Outcome::Failed;
    Reason reason = Reason::None;
    std::optional<ConnectionId> connection;  // nullopt where the browser may not know
};
std::string_view text_of(CallbackResult::Outcome outcome);
std::string_view text_of(CallbackResult::Reason reason);  // "" for none

// Spends the state, checks browser, session and answer, and gets tokens for the code. A connection
// that never had tokens says why it has none now. `may_wait` is asked before a state is used up for
// a call to the provider; where it says no, SERVICE_UNAVAILABLE is thrown and the state counts
// again.
CallbackResult complete_authorization(Context& context, const CallbackRequest& request,
                                      const TryAcquire& may_wait);

}  // namespace muster::service
