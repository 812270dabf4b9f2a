// Types of an article's body fields (json/schema.hpp): HTML, and the URL of a cover image.
#pragma once

#include "json/schema.hpp"
#include "rules/content/html_sanitizer.hpp"

#include <cstddef>
#include <string>

namespace muster::rules {

// HTML for third-party pages. It is sanitized first (rules/content/html_sanitizer.hpp) and may then
// have at most `most_bytes` bytes.
struct Html {
    std::size_t most_bytes;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const;
    Json::Value schema() const;
};

// The same, with a report of what the sanitizer dropped.
struct ReportedHtml {
    std::size_t most_bytes;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                SanitizedHtml& out) const;
    Json::Value schema() const;
};

// An absolute https URL of at most `max` bytes, of visible ASCII, with a host that an origin can
// have.
struct HttpsUrl {
    std::size_t max;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const;
    Json::Value schema() const;
};

}  // namespace muster::rules
