// Page cursors: opaque to the caller, bound to the endpoint, the organization and the filters of
// the list, and tamper-evident (HMAC under the installation's key).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

class CursorSealer {
  public:
    // `key`: the installation's key, 32 bytes or more.
    explicit CursorSealer(std::string key) : key_(std::move(key)) {}

    // `scope` holds all that the cursor is bound to (operation, organization, filters); `position`
    // is where the next page starts, any bytes. The result is base64url.
    [[nodiscard]] std::string seal(std::string_view scope, std::string_view position) const;
    // The position, or nullopt for anything that seal() did not give for this very scope.
    [[nodiscard]] std::optional<std::string> open(std::string_view scope,
                                                  std::string_view cursor) const;

  private:
    std::string key_;
};

}  // namespace muster::rules
