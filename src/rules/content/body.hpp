// The types of an article's body fields (json/schema.hpp): HTML, and the address of a cover.
#pragma once

#include "json/schema.hpp"

#include <cstddef>
#include <string>

namespace muster::rules {

// HTML for other sites' pages, sanitised (rules/content/html_sanitizer.hpp); then at most
// `most_bytes`.
struct Html {
    std::size_t most_bytes;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const;
    Json::Value schema() const;
};

// An absolute https address of at most `max` bytes, for a browser: visible ASCII, a host that an
// origin can have.
struct HttpsUrl {
    std::size_t max;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const;
    Json::Value schema() const;
};

}  // namespace muster::rules
