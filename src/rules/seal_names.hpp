// What each sealed value is bound to (base/sealing.hpp): said once for whoever seals, opens, and
// re-encrypts (store/operations/key_rotation.cpp).
#pragma once

#include "base/ids.hpp"

#include <string>
#include <string_view>

namespace muster::rules {

inline std::string totp_seal_name(const AdminId& admin) {
    return "totp:" + std::string(admin.bytes());
}

inline std::string mail_seal_name(const MailId& mail) {
    return "mail:" + mail.text();
}

// The secret values of an installation's config.
inline std::string config_seal_name(const InstallationId& installation) {
    return "config:" + installation.text();
}

// What a module's backend signs its requests with.
inline std::string credential_seal_name(const CredentialId& credential) {
    return "credential:" + credential.text();
}

// Both secrets of an endpoint: during a rotation the one becomes the other.
inline std::string endpoint_seal_name(const EndpointId& endpoint) {
    return "endpoint:" + endpoint.text();
}

// The tokens of a connection to a provider of external data.
inline std::string connection_seal_name(const OrgId& organization, const ConnectionId& connection) {
    return "connection:" + organization.text() + ":" + connection.text();
}

// The PKCE verifier of an admin on the way to the provider and back.
inline std::string authorization_seal_name(const OrgId& organization,
                                           const ConnectionId& connection) {
    return "authorization:" + organization.text() + ":" + connection.text();
}

// A recorded reply is bound to its Idempotency-Key by its inner seal.
inline constexpr std::string_view kReplySealName = "reply";

}  // namespace muster::rules
