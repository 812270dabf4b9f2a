// Secrets that must be read again (TOTP secrets, mail that waits, replayed keys) rest sealed:
// AES-256-GCM under the installation's key file, the key's id beside, so that it can be rotated
// (docs/operations/secrets.md "Rotate the installation key").
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The installation's keys: the current one seals, the previous one (while a rotation runs) still
// opens.
class KeyRing {
  public:
    // 32 bytes or more each; an empty `previous` is none.
    explicit KeyRing(const Secret& current, const Secret& previous = Secret());

    // A key for one purpose alone, 32 bytes (HKDF-SHA-256, RFC 5869), from the current key.
    [[nodiscard]] Secret derive(std::string_view purpose) const;
    // The same from each key that still counts, the current one's first: for what was signed before
    // a rotation.
    [[nodiscard]] std::vector<Secret> derive_all(std::string_view purpose) const;

    // `context` says what is sealed and whose ("totp:<admin>"), so that a value moved to another
    // row does not open.
    [[nodiscard]] std::string seal(std::string_view plain, std::string_view context) const;
    // nullopt when it was not sealed under either key, or was tampered with.
    [[nodiscard]] std::optional<Secret> open(std::string_view sealed,
                                             std::string_view context) const;
    // False for what `musterctl secret rotate` still has to seal anew.
    [[nodiscard]] bool is_current(std::string_view sealed) const;

  private:
    struct Key {
        std::string id;  // 8 bytes, derived from the key, telling nothing about it
        Secret sealing;
    };
    static Key key_of(const Secret& secret);

    Secret current_secret_;
    Secret previous_secret_;
    Key current_;
    std::optional<Key> previous_;
};

}  // namespace muster
