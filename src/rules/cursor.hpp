// Page cursors. They are opaque to the caller: a position may be a title that the caller must not
// see, nor its exact length. They are bound to the endpoint, the organization and the filters of
// the list, and encrypted with a key derived from the installation's key. The same page always has
// the same cursor, because ETags of lists cover it.
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

class CursorSealer {
  public:
    // `key`: 64 bytes (kSivKeyBytes), derived from the installation's key for cursors only.
    explicit CursorSealer(Secret key) : key_(std::move(key)) {}

    // `scope` names everything that the cursor is bound to: operation, organization, filters. It is
    // not empty. `position` is the start of the next page, as any bytes. The result is base64url.
    [[nodiscard]] std::string seal(std::string_view scope, std::string_view position) const;
    // The position; nullopt unless seal() returned the cursor for the same scope.
    [[nodiscard]] std::optional<std::string> open(std::string_view scope,
                                                  std::string_view cursor) const;

  private:
    Secret key_;
};

}  // namespace muster::rules
