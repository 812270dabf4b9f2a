// Names of countries in English, German, French, Spanish, Italian, Dutch and Portuguese, and their
// alpha-3 codes.
#pragma once

#include <optional>
#include <string_view>

namespace muster::client {

// The ISO 3166-1 alpha-2 code of a country's name ("Österreich", "EE.UU.") or alpha-3 code, without
// regard to case, accents and punctuation; nullopt for any other text. The table is generated from
// Debian's iso-codes (make-country-names).
[[nodiscard]] std::optional<std::string_view> country_code(std::string_view name);

}  // namespace muster::client
