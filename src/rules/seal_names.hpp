// The contexts of sealed values (base/sealing.hpp). Sealing, opening and re-encrypting
// (store/operations/key_rotation.cpp) must use the same one.
#pragma once

#include "base/ids.hpp"

#include <string>
#include <string_view>

namespace muster::rules {

inline std::string totp_seal_name(const AdminId& admin) {
    return "totp:" + std::string(admin.bytes());
}

// The secret of an authenticator that replaces the admin's.
inline std::string next_totp_seal_name(const SessionId& session) {
    return "next totp:" + std::string(session.bytes());
}

inline std::string mail_seal_name(const MailId& mail) {
    return "mail:" + mail.text();
}

// The secret values of an installation's config.
inline std::string config_seal_name(const InstallationId& installation) {
    return "config:" + installation.text();
}

// The signing secret of a module's backend.
inline std::string credential_seal_name(const CredentialId& credential) {
    return "credential:" + credential.text();
}

// All secrets of an endpoint use the same context: in a rotation, the current one becomes the
// previous one, and the previous one the older one.
inline std::string endpoint_seal_name(const EndpointId& endpoint) {
    return "endpoint:" + endpoint.text();
}

// The tokens of a connection to a provider of external data.
inline std::string connection_seal_name(const OrgId& organization, const ConnectionId& connection) {
    return "connection:" + organization.text() + ":" + connection.text();
}

// The PKCE verifier of a pending authorization.
inline std::string authorization_seal_name(const OrgId& organization,
                                           const ConnectionId& connection) {
    return "authorization:" + organization.text() + ":" + connection.text();
}

// An inner seal binds a recorded reply to its Idempotency-Key.
inline constexpr std::string_view kReplySealName = "reply";

}  // namespace muster::rules
