// Publishable keys: tracking keys (ek_live_…) and content keys (ck_live_…), which stand in web
// pages (specification 5 rule 7, docs/api.md "Publishable keys").
#pragma once

#include "rules/publishable_keys.hpp"
#include "service/context.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Whether a text could be a key of one of the kinds: its checksum is right. Spares the database
// what was mistyped or made up.
[[nodiscard]] bool is_publishable_token(std::string_view text);

// The live keys among these tokens, by one look-up; unknown, revoked and expired ones are left out.
// Nothing is cached: a revocation counts from the next look-up on. Notes their use, at most once a
// minute.
std::vector<rules::PublishableKey> find_publishable_keys(Context& context,
                                                         std::span<const std::string> tokens);

}  // namespace muster::service
