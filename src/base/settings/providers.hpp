// [providers.<id>] of muster.conf: how this installation calls one provider of external data. An
// empty member means the value of the provider's row (rules/connections/providers.hpp).
#pragma once

#include "base/secret.hpp"

#include <functional>
#include <map>
#include <string>

namespace muster {

struct ProviderSettings {
    std::string client_id;
    Secret client_secret;
    std::string host;
    std::string scopes;
    std::string authorize_url;
    std::string token_url;
    std::string issuer;
    std::string lookup_url;
    std::string revoke_url;
    std::string ca_file;
};

// By the provider's id. Only providers with a section in the configuration are present.
using ProvidersSettings = std::map<std::string, ProviderSettings, std::less<>>;

}  // namespace muster
