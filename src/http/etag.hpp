// Entity tags (RFC 9110 section 8.8.3): a strong one is made from the representation itself, and
// If-Match and If-None-Match are held against it.
#pragma once

#include <string>
#include <string_view>

namespace muster::http {

// The strong tag of these bytes, with its quotes.
[[nodiscard]] std::string etag_of(std::string_view representation);

// Whether an If-Match header lets a change of what has this tag pass: `*`, or a list that holds it.
// Weak tags match nothing, and neither does what is no tag.
[[nodiscard]] bool if_match_holds(std::string_view if_match, std::string_view etag);

// Whether an If-None-Match header ("" where none was sent) says that the client has what has this
// tag: `*`, or a list that holds it, as a weak one too (RFC 9110 section 13.1.2).
[[nodiscard]] bool is_known_by(std::string_view if_none_match, std::string_view etag);

}  // namespace muster::http
