// The form in which names of columns, countries and choices are compared.
#pragma once

#include <string>
#include <string_view>

namespace muster::client {

// Lower case, umlauts as ae oe ue ss, without other accents of Latin letters, white space and
// punctuation: "E-Mail 1 - Value" and "e_mail1value" are equal. Letters of other scripts are kept.
[[nodiscard]] std::string column_key(std::string_view name);

}  // namespace muster::client
