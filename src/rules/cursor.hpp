// Page cursors. They are opaque to the caller, bound to the endpoint, the organization and the
// filters of the list, and signed with the installation's key (HMAC).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

class CursorSealer {
  public:
    // `key`: the installation's key, 32 bytes or more.
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
