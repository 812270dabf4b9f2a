// rules/origins.hpp: an origin has one canonical form, and a list matches exactly its entries and
// no similar origins. Input: an entry of a list and an Origin header, one per line; the header is
// also used as a Referer.
#include "rules/origins.hpp"

#include "fuzz/fuzz.hpp"

#include <span>
#include <string>

using namespace muster;
using fuzz::must;

namespace {

bool lets_in(const std::string& entry, std::string_view text) {
    const auto origin = rules::canonical_origin(text);
    return origin && rules::is_allowed_origin({&entry, 1}, *origin);
}

constexpr std::string_view kWildcard = "https://*.";

// An independent implementation of the match: the asterisk is one label.
bool is_covered(const std::string& entry, const std::string& origin) {
    if (!entry.starts_with(kWildcard)) return entry == origin;
    const auto dot = origin.find('.');
    if (dot == std::string::npos || !origin.starts_with("https://")) return false;
    return "https://*" + origin.substr(dot) == entry;
}

void check_origin(const std::string& origin) {
    must(rules::canonical_origin(origin) == origin);
    must(rules::canonical_allowed_origin(origin) == origin);
    must(rules::origin_of_url(origin + "/a?b#c") == origin);
    must(origin.starts_with("https://") || origin.starts_with("http://"));
    must(origin.size() + 2 <= rules::kLongestAllowedOrigin);
    const auto host = origin.substr(origin.find("://") + 3);
    must(host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.:[]") == std::string::npos);
    must(!host.empty() && !host.ends_with('.'));
    must(!origin.ends_with(origin.starts_with("https") ? ":443" : ":80"));
    must(lets_in(origin, origin));
    const auto scheme = origin.substr(0, origin.find("://") + 3);
    for (const std::string& other :
         {origin + ".evil.test", origin + "evil", scheme + "evil" + host, scheme + "evil." + host,
          scheme + "evil@" + host, origin + "@evil.test", origin + "/", origin + " ",
          "x" + origin}) {
        must(!lets_in(origin, other));
    }
}

void check_wildcard(const std::string& entry) {
    const std::string domain = entry.substr(kWildcard.size());
    must(lets_in(entry, "https://x." + domain) || domain.size() > 250);
    for (const std::string& other :
         {"https://" + domain, "https://x.y." + domain, "http://x." + domain, "https://x" + domain,
          "https://." + domain, "https://x." + domain + ".evil.test", entry}) {
        must(!lets_in(entry, other));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text = fuzz::text_of(data, size);
    const auto entry = rules::canonical_allowed_origin(fuzz::take(text, '\n'));
    const auto origin = rules::canonical_origin(text);
    if (origin) check_origin(*origin);
    if (const auto referred = rules::origin_of_url(text)) check_origin(*referred);
    if (!entry) return 0;
    must(rules::canonical_allowed_origin(*entry) == *entry);
    must(entry->size() <= rules::kLongestAllowedOrigin);
    if (entry->starts_with(kWildcard)) {
        check_wildcard(*entry);
    } else {
        check_origin(*entry);
    }
    if (origin) {
        must(rules::is_allowed_origin({&*entry, 1}, *origin) == is_covered(*entry, *origin));
    }
    return 0;
}
