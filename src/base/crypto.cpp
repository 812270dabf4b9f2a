#include "base/crypto.hpp"

#include "base/text.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace muster {
namespace {

constexpr std::string_view kBase62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kRandomCharacters = 43;
constexpr std::size_t kChecksumCharacters = 6;

// 256 random bits as 43 base62 digits (62^43 > 2^256), by repeated division of the number by 62.
std::string random_base62() {
    std::array<std::uint8_t, 32> number{};
    random_bytes(number.data(), number.size());
    std::string text(kRandomCharacters, '0');
    for (std::size_t place = kRandomCharacters; place-- > 0;) {
        unsigned remainder = 0;
        for (std::uint8_t& byte : number) {
            const unsigned value = remainder << 8U | byte;
            byte = static_cast<std::uint8_t>(value / 62);
            remainder = value % 62;
        }
        text[place] = kBase62[remainder];
    }
    OPENSSL_cleanse(number.data(), number.size());
    return text;
}

std::string checksum(std::string_view text) {
    auto value = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
    std::string digits(kChecksumCharacters, '0');
    for (std::size_t place = kChecksumCharacters; place-- > 0; value /= 62) {
        digits[place] = kBase62[value % 62];
    }
    return digits;
}

struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Digest = std::unique_ptr<EVP_MD_CTX, FreeContext>;
using Mac = std::unique_ptr<EVP_MAC_CTX, FreeContext>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

// OpenSSL 3 searches its providers on each use of EVP_sha256() and the like. The search takes
// longer than the digest of a short text. So each algorithm is fetched once, for the lifetime of
// the process.
template <class Algorithm>
Algorithm* fetched(Algorithm* algorithm) {
    if (!algorithm) throw std::runtime_error("OpenSSL does not have a required algorithm");
    return algorithm;
}

EVP_MD* sha256_algorithm() {
    static EVP_MD* const kAlgorithm = fetched(EVP_MD_fetch(nullptr, "SHA256", nullptr));
    return kAlgorithm;
}
EVP_MD* sha1_algorithm() {
    static EVP_MD* const kAlgorithm = fetched(EVP_MD_fetch(nullptr, "SHA1", nullptr));
    return kAlgorithm;
}
EVP_CIPHER* aes_256_gcm() {
    static EVP_CIPHER* const kAlgorithm =
        fetched(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
    return kAlgorithm;
}

EVP_CIPHER* aes_256_siv() {
    static EVP_CIPHER* const kAlgorithm =
        fetched(EVP_CIPHER_fetch(nullptr, "AES-256-SIV", nullptr));
    return kAlgorithm;
}

void require_mac(bool good) {
    if (!good) throw std::runtime_error("OpenSSL could not compute a MAC");
}

// A context without a key. The EVP_MAC stays referenced by its contexts.
Mac new_mac(const char* algorithm, const OSSL_PARAM& parameter) {
    EVP_MAC* mac = fetched(EVP_MAC_fetch(nullptr, algorithm, nullptr));
    Mac context(EVP_MAC_CTX_new(mac));
    EVP_MAC_free(mac);
    const std::array<OSSL_PARAM, 2> parameters{parameter, OSSL_PARAM_construct_end()};
    require_mac(context && EVP_MAC_CTX_set_params(context.get(), parameters.data()) == 1);
    return context;
}

Mac new_hmac(std::string hash) {
    return new_mac("HMAC", OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash.data(), 0));
}

void run_mac(EVP_MAC_CTX* context, std::string_view key, std::string_view data, unsigned char* to,
             std::size_t bytes) {
    // An empty key must not be a null pointer: it would mean the key of the call before.
    const unsigned char* key_bytes = bytes_of(key.empty() ? std::string_view("") : key);
    std::size_t length = 0;
    require_mac(EVP_MAC_init(context, key_bytes, key.size(), nullptr) == 1 &&
                EVP_MAC_update(context, bytes_of(data), data.size()) == 1 &&
                EVP_MAC_final(context, to, &length, bytes) == 1 && length == bytes);
}

// Each call works on a copy of the context, which OpenSSL clears when it is freed. A context that
// is kept would hold the last key in memory.
std::string hmac(const Mac& prepared, std::size_t bytes, std::string_view key,
                 std::string_view data) {
    const Mac context(EVP_MAC_CTX_dup(prepared.get()));
    require_mac(context != nullptr);
    std::string digest(bytes, '\0');
    run_mac(context.get(), key, data, bytes_of(digest), bytes);
    return digest;
}

std::string digest_of(EVP_MD_CTX* context, const EVP_MD* hash, std::size_t bytes,
                      std::string_view data) {
    std::string digest(bytes, '\0');
    if (!context || EVP_DigestInit_ex2(context, hash, nullptr) != 1 ||
        EVP_DigestUpdate(context, data.data(), data.size()) != 1 ||
        EVP_DigestFinal_ex(context, bytes_of(digest), nullptr) != 1) {
        throw std::runtime_error("OpenSSL could not compute a digest");
    }
    return digest;
}

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

void require(int result) {
    if (result != 1) throw std::runtime_error("AES-256-GCM failed");
}

}  // namespace

void random_bytes(void* to, std::size_t count) {
    if (RAND_bytes(static_cast<unsigned char*>(to), static_cast<int>(count)) != 1) {
        throw std::runtime_error("OpenSSL returned no random bytes");
    }
}

std::string sha256(std::string_view data) {
    thread_local const Digest kContext(EVP_MD_CTX_new());
    return digest_of(kContext.get(), sha256_algorithm(), 32, data);
}

std::string sha1(std::string_view data) {
    const Digest context(EVP_MD_CTX_new());
    return digest_of(context.get(), sha1_algorithm(), 20, data);
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
    static const Mac kPrepared = new_hmac("SHA256");
    return hmac(kPrepared, 32, key, data);
}

std::string hmac_sha1(std::string_view key, std::string_view data) {
    static const Mac kPrepared = new_hmac("SHA1");
    return hmac(kPrepared, 20, key, data);
}

std::uint64_t siphash(std::string_view key, std::string_view data) {
    if (key.size() != kSipHashKeyBytes) throw std::invalid_argument("a SipHash key has 16 bytes");
    // Kept with its last key, unlike HMAC's: siphash() is called often, and keys of hash tables
    // protect no stored data.
    thread_local const Mac kContext = [] {
        std::size_t bytes = sizeof(std::uint64_t);
        return new_mac("SIPHASH", OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &bytes));
    }();
    std::array<unsigned char, sizeof(std::uint64_t)> digest{};
    run_mac(kContext.get(), key, data, digest.data(), digest.size());
    std::uint64_t hash = 0;
    for (std::size_t i = digest.size(); i-- > 0;) hash = hash << 8U | digest[i];
    return hash;
}

Secret random_digits(std::size_t count) {
    constexpr unsigned kFair = 250;  // without this bound the low digits would be more frequent
    std::string digits;
    while (digits.size() < count) {
        std::uint8_t byte = 0;
        random_bytes(&byte, 1);
        if (byte < kFair) digits += static_cast<char>('0' + byte % 10);
    }
    return Secret(std::move(digits));
}

Secret hkdf_sha256(const Secret& key, std::string_view purpose) {
    const std::unique_ptr<EVP_PKEY_CTX, FreeContext> context(
        EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
    std::string derived(kKeyBytes, '\0');
    std::size_t length = derived.size();
    const std::string& secret = key.reveal();
    const bool good = context && EVP_PKEY_derive_init(context.get()) == 1 &&
                      EVP_PKEY_CTX_set_hkdf_md(context.get(), sha256_algorithm()) == 1 &&
                      EVP_PKEY_CTX_set1_hkdf_key(context.get(), bytes_of(secret),
                                                 static_cast<int>(secret.size())) == 1 &&
                      EVP_PKEY_CTX_add1_hkdf_info(context.get(), bytes_of(purpose),
                                                  static_cast<int>(purpose.size())) == 1 &&
                      EVP_PKEY_derive(context.get(), bytes_of(derived), &length) == 1;
    if (!good) throw std::runtime_error("HKDF failed");
    return Secret(std::move(derived));
}

std::string seal_under(const Secret& key, std::string_view plain, std::string_view context) {
    std::string sealed(kNonceBytes + plain.size() + kTagBytes, '\0');
    random_bytes(sealed.data(), kNonceBytes);
    unsigned char* out = bytes_of(sealed);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int length = 0;
    require(EVP_EncryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key.reveal()), out, nullptr));
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
    require(EVP_DecryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key.reveal()),
                                bytes_of(sealed), nullptr));
    require(EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                              static_cast<int>(context.size())));
    require(EVP_DecryptUpdate(cipher.get(), out, &length, bytes_of(body),
                              static_cast<int>(body.size())));
    require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()));
    if (EVP_DecryptFinal_ex(cipher.get(), out + body.size(), &length) != 1) return std::nullopt;
    return plain;
}

std::string seal_repeatably(const Secret& key, std::string_view plain, std::string_view context) {
    require(key.reveal().size() == kSivKeyBytes && !plain.empty() && !context.empty());
    std::string sealed(kTagBytes + plain.size(), '\0');
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int length = 0;
    require(
        EVP_EncryptInit_ex2(cipher.get(), aes_256_siv(), bytes_of(key.reveal()), nullptr, nullptr));
    require(EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                              static_cast<int>(context.size())));
    require(EVP_EncryptUpdate(cipher.get(), bytes_of(sealed) + kTagBytes, &length, bytes_of(plain),
                              static_cast<int>(plain.size())));
    require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, sealed.data()));
    return sealed;
}

std::optional<std::string> open_repeatable(const Secret& key, std::string_view sealed,
                                           std::string_view context) {
    require(key.reveal().size() == kSivKeyBytes);
    if (sealed.size() <= kTagBytes || context.empty()) return std::nullopt;
    std::string tag(sealed.substr(0, kTagBytes));
    const std::string_view body = sealed.substr(kTagBytes);
    std::string plain(body.size(), '\0');
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int length = 0;
    require(
        EVP_DecryptInit_ex2(cipher.get(), aes_256_siv(), bytes_of(key.reveal()), nullptr, nullptr));
    require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()));
    require(EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                              static_cast<int>(context.size())));
    if (EVP_DecryptUpdate(cipher.get(), bytes_of(plain), &length, bytes_of(body),
                          static_cast<int>(body.size())) != 1) {
        return std::nullopt;
    }
    return plain;
}

std::string to_base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL appends a NUL
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
    text.pop_back();
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes(text.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    if (to_base64(bytes) != text) return std::nullopt;  // OpenSSL ignores white space
    return bytes;
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

Secret create_random_text() {
    return Secret(random_base62());
}

Secret create_signing_secret(std::string_view prefix) {
    return Secret(std::string(prefix) + create_random_text().reveal());
}

Secret create_credential(std::string_view prefix) {
    std::string text = std::string(prefix) + random_base62();
    text += checksum(text);
    return Secret(std::move(text));
}

bool is_credential(std::string_view prefix, std::string_view text) {
    const std::size_t length = prefix.size() + kRandomCharacters + kChecksumCharacters;
    if (text.size() != length || text.substr(0, prefix.size()) != prefix) return false;
    if (text.find_first_not_of(kBase62, prefix.size()) != std::string_view::npos) return false;
    const std::string_view body = text.substr(0, length - kChecksumCharacters);
    return equal_in_constant_time(checksum(body), text.substr(body.size()));
}

}  // namespace muster
