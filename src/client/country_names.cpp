#include "client/country_names.hpp"

#include "client/column_key.hpp"

#include <algorithm>
#include <string>

namespace muster::client {
namespace {

struct CountryName {
    std::string_view key;  // as column_key() writes it
    std::string_view code;
};

constexpr CountryName kCountryNames[] = {
#include "client/country_names.def"
};
static_assert(std::ranges::is_sorted(kCountryNames, {}, &CountryName::key));

}  // namespace

std::optional<std::string_view> country_code(std::string_view name) {
    constexpr std::size_t kLongest = 200;  // bytes
    if (name.size() > kLongest) return std::nullopt;
    const std::string key = column_key(name);
    const auto* found = std::ranges::lower_bound(kCountryNames, key, {}, &CountryName::key);
    if (found == std::end(kCountryNames) || found->key != key) return std::nullopt;
    return found->code;
}

}  // namespace muster::client
