#include "base/sealing.hpp"

#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <memory>
#include <stdexcept>

namespace muster {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kIdBytes = 8;
constexpr char kVersion = 1;

struct FreeCipher {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

void require(int result) {
    if (result != 1) throw std::runtime_error("AES-256-GCM failed");
}

Secret hkdf(const Secret& key, std::string_view purpose) {
    const std::unique_ptr<EVP_PKEY_CTX, FreeCipher> context(
        EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
    std::string derived(kKeyBytes, '\0');
    std::size_t length = derived.size();
    const std::string& secret = key.reveal();
    const bool good = context && EVP_PKEY_derive_init(context.get()) == 1 &&
                      EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1 &&
                      EVP_PKEY_CTX_set1_hkdf_key(context.get(), bytes_of(secret),
                                                 static_cast<int>(secret.size())) == 1 &&
                      EVP_PKEY_CTX_add1_hkdf_info(context.get(), bytes_of(purpose),
                                                  static_cast<int>(purpose.size())) == 1 &&
                      EVP_PKEY_derive(context.get(), bytes_of(derived), &length) == 1;
    if (!good) throw std::runtime_error("HKDF failed");
    return Secret(std::move(derived));
}

}  // namespace

std::string seal_under(const Secret& key, std::string_view plain, std::string_view context) {
    std::string sealed(kNonceBytes + plain.size() + kTagBytes, '\0');
    random_bytes(sealed.data(), kNonceBytes);
    unsigned char* out = bytes_of(sealed);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int length = 0;
    require(
        EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.reveal()), out));
    require(EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                              static_cast<int>(context.size())));
    require(EVP_EncryptUpdate(cipher.get(), out + kNonceBytes, &length, bytes_of(plain),
                              static_cast<int>(plain.size())));
    require(EVP_EncryptFinal_ex(cipher.get(), out + kNonceBytes + plain.size(), &length));
    require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                                out + kNonceBytes + plain.size()));
    return sealed;
}

std::optional<Secret> open_under(const Secret& key, std::string_view sealed,
                                 std::string_view context) {
    if (sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
    const std::string_view body =
        sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    Secret plain(std::string(body.size(), '\0'));
    auto* out = const_cast<unsigned char*>(bytes_of(plain.reveal()));
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int length = 0;
    require(EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.reveal()),
                               bytes_of(sealed)));
    require(EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                              static_cast<int>(context.size())));
    require(EVP_DecryptUpdate(cipher.get(), out, &length, bytes_of(body),
                              static_cast<int>(body.size())));
    require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()));
    if (EVP_DecryptFinal_ex(cipher.get(), out + body.size(), &length) != 1) return std::nullopt;
    return plain;
}

KeyRing::Key KeyRing::key_of(const Secret& secret) {
    return {hkdf(secret, "muster key id").reveal().substr(0, kIdBytes),
            hkdf(secret, "muster sealing")};
}

KeyRing::KeyRing(const Secret& current, const Secret& previous)
    : current_secret_(current), current_(key_of(current)) {
    if (!previous.empty()) previous_ = key_of(previous);
}

Secret KeyRing::derive(std::string_view purpose) const {
    return hkdf(current_secret_, "muster for " + std::string(purpose));
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
