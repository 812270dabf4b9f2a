#include "base/sealing.hpp"

#include "base/crypto.hpp"

namespace muster {
namespace {

constexpr std::size_t kIdBytes = 8;
constexpr char kVersion = 1;

}  // namespace

KeyRing::Key KeyRing::key_of(const Secret& secret) {
    return {hkdf_sha256(secret, "muster key id").reveal().substr(0, kIdBytes),
            hkdf_sha256(secret, "muster sealing")};
}

KeyRing::KeyRing(const Secret& current, const Secret& previous)
    : current_secret_(current), previous_secret_(previous), current_(key_of(current)) {
    if (!previous.empty()) previous_ = key_of(previous);
}

Secret KeyRing::derive(std::string_view purpose) const {
    return hkdf_sha256(current_secret_, "muster for " + std::string(purpose));
}

std::vector<Secret> KeyRing::derive_all(std::string_view purpose) const {
    std::vector<Secret> keys{derive(purpose)};
    if (!previous_secret_.empty()) {
        keys.push_back(hkdf_sha256(previous_secret_, "muster for " + std::string(purpose)));
    }
    return keys;
}

std::string KeyRing::seal(std::string_view plain, std::string_view context) const {
    return kVersion + current_.id + seal_under(current_.sealing, plain, context);
}

std::optional<Secret> KeyRing::open(std::string_view sealed, std::string_view context) const {
    if (sealed.size() < 1 + kIdBytes || sealed[0] != kVersion) return std::nullopt;
    const std::string_view id = sealed.substr(1, kIdBytes);
    const std::string_view rest = sealed.substr(1 + kIdBytes);
    if (id == current_.id) return open_under(current_.sealing, rest, context);
    if (previous_ && id == previous_->id) return open_under(previous_->sealing, rest, context);
    return std::nullopt;
}

bool KeyRing::is_current(std::string_view sealed) const {
    return sealed.size() > kIdBytes && sealed[0] == kVersion &&
           sealed.substr(1, kIdBytes) == current_.id;
}

}  // namespace muster
