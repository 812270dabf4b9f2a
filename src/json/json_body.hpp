// Strict JSON input (docs/api/conventions.md "Conventions"): UTF-8, one document, at most 64
// levels, no duplicate keys, no lone surrogates. Any other body is a BAD_REQUEST before its fields
// are checked.
#pragma once

#include "json/json_in.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace muster::json {

inline constexpr std::size_t kMaxDepth = 64;
// The buffers for a larger body are freed after it; those for a smaller one are reused. They can
// take 13 bytes per byte of the body. A call with 5,000 rows of an import has about 2 MB.
inline constexpr std::size_t kMostReusedBytes = std::size_t{4} << 20U;

// The parsed body of a request. It owns its document, so several bodies can exist at once.
class JsonBody {
  public:
    // Throws Error BAD_REQUEST; details.reason explains the fault to a person.
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

// Reads stored JSON and replies of other servers. It accepts repeated keys and reuses its buffers.
class JsonParser {
  public:
    JsonParser();
    ~JsonParser();
    JsonParser(const JsonParser&) = delete;
    JsonParser& operator=(const JsonParser&) = delete;

    // The value is valid until the next call. nullopt if the text is not JSON.
    std::optional<JsonIn> parse(std::string_view text);
    // As parse(), but nullopt also if the value is not an object.
    std::optional<JsonObject> parse_object(std::string_view text);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Whether both texts are the same JSON: 5 is 5.0, and members may have any order. False if one is
// not JSON.
[[nodiscard]] bool is_same_json(std::string_view one, std::string_view other);

}  // namespace muster::json
