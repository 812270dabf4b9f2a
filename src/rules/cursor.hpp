// Page cursors. They are opaque to the caller, bound to the endpoint, the organization and the
// filters of the list, and signed (HMAC) with a key derived from the installation's key. Signed,
// not encrypted: put no secret into a position.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

class CursorSealer {
  public:
    // `key`: 32 bytes, derived from the installation's key for cursors only.
    explicit CursorSealer(std::string key) : key_(std::move(key)) {}

    // `scope` names everything that the cursor is bound to: operation, organization, filters.
    // `position` is the start of the next page, as any bytes. The result is base64url.
    [[nodiscard]] std::string seal(std::string_view scope, std::string_view position) const;
    // The position; nullopt unless seal() returned the cursor for the same scope.
    [[nodiscard]] std::optional<std::string> open(std::string_view scope,
                                                  std::string_view cursor) const;

  private:
    std::string key_;
};

}  // namespace muster::rules
