// HTML that people wrote elsewhere, made fit for somebody else's page (docs/engagement.md
// "Content"): a strict allowlist of elements, attributes and schemes. The only file that knows
// libgumbo.
#pragma once

#include <string>
#include <string_view>

namespace muster::rules {

// The same document with nothing in it but what the allowlist holds, written anew from the parsed
// tree. What is no code keeps its text. Settled: sanitised again it stays as it is. HTML that is
// made to cost a parser more than any page (nesting by the thousand) comes back as its own source,
// escaped. May be longer than what came in, by escapes and end tags; not longer than a small
// multiple of it.
[[nodiscard]] std::string sanitized_html(std::string_view html);

}  // namespace muster::rules
