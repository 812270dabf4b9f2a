// Strong entity tags (RFC 9110 section 8.8.3), computed from the representation, and their
// comparison with If-Match and If-None-Match.
#pragma once

#include <string>
#include <string_view>

namespace muster::http {

// The strong tag of these bytes, including its quotes.
[[nodiscard]] std::string etag_of(std::string_view representation);

// The strong tag of a record's version, including its quotes. `version`: visible ASCII without
// quotes.
[[nodiscard]] std::string version_tag(std::string_view version);

// True if the If-Match header allows a change of the representation with this tag: it is `*` or
// contains the tag. A weak or malformed tag never matches.
[[nodiscard]] bool if_match_holds(std::string_view if_match, std::string_view etag);

// True if the If-None-Match header shows that the client has the representation with this tag: it
// is `*` or contains the tag, strong or weak (RFC 9110 section 13.1.2). `if_none_match` is "" if
// the header is missing.
[[nodiscard]] bool if_none_match_matches(std::string_view if_none_match, std::string_view etag);

}  // namespace muster::http
