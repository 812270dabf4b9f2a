// The tracking script that nginx serves to other sites' pages (nginx/static/js/muster.js).
#pragma once

#include <string_view>

namespace muster::rules {

inline constexpr std::string_view kTrackingScriptPath = "/js/muster.js";
// Subresource Integrity of the file. A unit test compares the two.
inline constexpr std::string_view kTrackingScriptIntegrity =
    "sha384-96/r00FHfAcR1lAp+utcvv6oTe3utAD0bztpbOw+7mPPzOClJi4IpjCBl0Ardycr";

}  // namespace muster::rules
