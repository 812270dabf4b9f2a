// Encryption of secrets that must be read again (TOTP secrets, queued mail, replayed keys). Values
// are sealed with AES-256-GCM under the installation's key file. The key's id is stored with the
// value, so that the key can be rotated (docs/operations/secrets.md "Rotate the installation key").
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The installation's keys. The current key encrypts. During a rotation, the previous key still
// decrypts.
class KeyRing {
  public:
    // Each key has 32 bytes or more. An empty `previous` means that there is no previous key.
    explicit KeyRing(const Secret& current, const Secret& previous = Secret());

    // Derives a key of 32 bytes for one purpose from the current key (HKDF-SHA-256, RFC 5869).
    [[nodiscard]] Secret derive(std::string_view purpose) const;
    // The same from each valid key, the current key first. For checking signatures made before a
    // rotation.
    [[nodiscard]] std::vector<Secret> derive_all(std::string_view purpose) const;

    // `context` names the kind of the value and its owner ("totp:<admin>"). A value that was moved
    // to another row cannot be decrypted.
    [[nodiscard]] std::string seal(std::string_view plain, std::string_view context) const;
    // nullopt if the value was not sealed under either key, has another context, or was changed.
    [[nodiscard]] std::optional<Secret> open(std::string_view sealed,
                                             std::string_view context) const;
    // False for a value that `musterctl secret rotate` still has to re-encrypt.
    [[nodiscard]] bool is_current(std::string_view sealed) const;

  private:
    struct Key {
        std::string id;  // 8 bytes derived from the key; reveals nothing about it
        Secret sealing;
    };
    static Key key_of(const Secret& secret);

    Secret current_secret_;
    Secret previous_secret_;
    Key current_;
    std::optional<Key> previous_;
};

}  // namespace muster
