#include "base/settings/checks.hpp"

#include "base/loopback.hpp"

#include <algorithm>
#include <string>

namespace muster {

bool is_plain_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '"';
    });
}

bool is_mail_url(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos || !is_plain_word(url)) return false;
    const std::string_view host = url.substr(scheme + 3);
    return (url.starts_with("smtp://") || url.starts_with("smtps://")) && !host.empty() &&
           host.front() != ':' && host.find_first_of("@/?#") == std::string_view::npos;
}

bool is_sender(std::string_view address) {
    const auto at = address.find('@');
    return is_plain_word(address) && at != std::string_view::npos && at > 0 &&
           at + 1 < address.size() && address.find('@', at + 1) == std::string_view::npos;
}

bool is_origin(std::string_view text) {
    const auto scheme = text.find("://");
    if (!text.starts_with("http://") && !text.starts_with("https://")) return false;
    const std::string_view host = text.substr(scheme + 3);
    return is_plain_word(host) && host.find_first_of("/?#@*") == std::string_view::npos &&
           std::none_of(host.begin(), host.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_secret_url(std::string_view text) {
    const std::string_view host = authority_of(text);
    if (!is_plain_word(text) || host.empty() || host.front() == ':' ||
        host.find('@') != std::string_view::npos || text.find('#') != std::string_view::npos) {
        return false;
    }
    return text.starts_with("https://") || (text.starts_with("http://") && is_loopback(host));
}

bool is_host(std::string_view text) {
    return is_plain_word(text) && text.front() != ':' &&
           text.find_first_of("/?#@*{}\\") == std::string_view::npos;
}

bool is_scopes(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

bool is_octal_mode(std::string_view text) {
    return !text.empty() && text.size() <= 4 &&
           text.find_first_not_of("01234567") == std::string_view::npos;
}

bool is_installation_key(std::string_view bytes) {
    constexpr std::size_t kLeastBytes = 32;
    return bytes.size() >= kLeastBytes;
}

}  // namespace muster
