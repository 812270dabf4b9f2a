#include "client/named_files.hpp"

#include "base/command_line.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace muster::client {
namespace {

constexpr std::array<std::string_view, 4> kKeyPrefixes = {"org_", "mk_live_", "ek_live_",
                                                          "ck_live_"};
// A key has 49 characters after its prefix. 24 also catch a key that was cut short, and are more
// than a word of a column's name has.
constexpr std::size_t kFewestKeyCharacters = 24;

bool has_key_with(std::string_view prefix, std::string_view word) {
    for (auto at = word.find(prefix); at != word.npos; at = word.find(prefix, at + 1)) {
        const std::string_view rest = word.substr(at + prefix.size());
        const auto end = std::ranges::find_if_not(rest, is_letter_or_digit);
        if (static_cast<std::size_t>(end - rest.begin()) >= kFewestKeyCharacters) return true;
    }
    return false;
}

}  // namespace

bool exposes_key(const std::string& word) {
    const bool has_key = std::ranges::any_of(
        kKeyPrefixes, [&](std::string_view prefix) { return has_key_with(prefix, word); });
    std::error_code unknown;
    return has_key && !std::filesystem::exists(word, unknown);
}

std::ifstream open_file(const std::string& what, const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw UsageError(what + " cannot be read: " + std::generic_category().message(errno));
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown))
        throw UsageError(what + " is a folder; use a file");
    return file;
}

void require_whole(const std::ifstream& file, const std::string& what) {
    if (file.bad())
        throw UsageError(what + " cannot be read: " + std::generic_category().message(errno));
}

std::string first_line(const std::string& what, const std::string& path) {
    constexpr std::size_t kMostBytes = 4096;  // /dev/zero has no end
    std::ifstream file = open_file(what, path);
    std::string text(kMostBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    require_whole(file, what);
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.empty()) throw UsageError(what + " is empty");
    return text.substr(0, text.find('\n'));
}

void require_certificates(const std::string& what, const std::string& path) {
    constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
    std::ifstream file = open_file(what, path);
    std::string text(kMostBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    for (const char* kind : {"", "TRUSTED ", "X509 "}) {
        if (text.find("-----BEGIN " + std::string(kind) + "CERTIFICATE-----") != text.npos) return;
    }
    throw UsageError(what + " has no certificate; name a file in PEM format");
}

}  // namespace muster::client
