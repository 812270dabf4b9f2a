// Strict JSON coming in (docs/api.md "Conventions"): UTF-8, one document, at most 64 levels, no
// duplicate keys, no lone surrogates. Everything else is a BAD_REQUEST before any field is looked
// at.
#pragma once

#include "json/json_in.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace muster::json {

inline constexpr std::size_t kMaxDepth = 64;

// A request's parsed body. It owns the document: several can be open at once.
class JsonBody {
  public:
    // Throws Error BAD_REQUEST, with the reason for a person in details.reason.
    explicit JsonBody(std::string_view body);
    const JsonIn& root() const { return root_; }

  private:
    struct Document;
    struct Reuse {
        void operator()(Document* document) const;
    };
    std::unique_ptr<Document, Reuse> document_;
    JsonIn root_;
};

// Reads stored JSON and other servers' answers, which may repeat a key. Its buffers serve one
// document after another.
class JsonParser {
  public:
    JsonParser();
    ~JsonParser();
    JsonParser(const JsonParser&) = delete;
    JsonParser& operator=(const JsonParser&) = delete;

    // Valid until the next call; nullopt for a text that is not JSON.
    std::optional<JsonIn> parse(std::string_view text);
    // nullopt for any other value than an object too.
    std::optional<JsonObject> parse_object(std::string_view text);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::json
