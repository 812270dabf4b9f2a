#include "net/webhooks/url.hpp"

#include "base/loopback.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "net/resolver.hpp"
#include "net/webhooks/target.hpp"

#include <algorithm>
#include <new>
#include <string_view>

namespace muster::net {
namespace {

constexpr Milliseconds kLookUpTime{2000};
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr int kMaxPort = 65535;

constexpr const char* kNotPublic = "leads to an address that is not public";
constexpr const char* kBadHost = "has no valid host name";

struct FreeText {
    void operator()(char* text) const { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
    char* raw = nullptr;
    if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) return "";
    const std::unique_ptr<char, FreeText> text(raw);
    return text.get();
}

// Checked before curl parses the URL: rejects text that URL parsers interpret differently.
std::optional<std::string> fault_in_text(std::string_view url) {
    if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c >= 0x7f; }))
        return "must contain only ASCII characters without spaces (write the host name in its xn-- form)";
    if (url.find('\\') != std::string_view::npos) return "must not contain a backslash";
    if (url.find('#') != std::string_view::npos) return "must not contain a fragment (#)";
    const std::size_t colon = url.find("://");
    const std::string_view scheme = url.substr(0, colon);
    if (colon == std::string_view::npos ||
        (!equal_ignoring_case(scheme, "https") && !equal_ignoring_case(scheme, "http")))
        return "must begin with https://";
    url.remove_prefix(colon + 3);
    const std::string_view authority = url.substr(0, url.find_first_of("/?"));
    if (authority.empty()) return "has no host";
    if (authority.find('@') != std::string_view::npos)
        return "must not contain a user or a password";
    if (authority.find('%') != std::string_view::npos)
        return "must not contain a percent sign in the host";
    return std::nullopt;
}

bool is_name_label(std::string_view label) {
    return !label.empty() && label.size() <= kMaxLabel &&
           std::all_of(label.begin(), label.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
           });
}

// A name must not end in a number: some resolvers treat "127.1." and the like as addresses. An
// address that curl recognizes is already a dotted quad here.
bool is_name(std::string_view host) {
    const auto labels = split(host, '.');
    const std::string_view last = labels.back();
    return host.size() <= kMaxName && std::all_of(labels.begin(), labels.end(), is_name_label) &&
           !(last.front() >= '0' && last.front() <= '9');
}

bool is_localhost(std::string_view host) {
    return host == "localhost" || host.ends_with(".localhost");
}

std::optional<std::string> read_host(WebhookTarget& target) {
    std::string host = part_of(target.url.get(), CURLUPART_HOST);
    ascii_lower(host);
    if (host.starts_with('[') && host.ends_with(']')) {
        target.host = host.substr(1, host.size() - 2);
        target.address = IpAddress::parse(target.host);
        return target.address ? std::nullopt : std::optional<std::string>(kBadHost);
    }
    target.host = host;
    target.address = IpAddress::parse(host);
    if (target.address) return std::nullopt;
    if (host.ends_with('.')) {  // the same name; TLS certificates name it without the dot
        target.host.pop_back();
        if (curl_url_set(target.url.get(), CURLUPART_HOST, target.host.c_str(), 0) != CURLUE_OK)
            return kBadHost;
    }
    return is_name(target.host) ? std::nullopt : std::optional<std::string>(kBadHost);
}

std::optional<std::string> fault_in_target(const WebhookTarget& target, const UrlPolicy& policy) {
    if (!target.is_https && !(policy.allows_loopback && is_loopback(target.host)))
        return "must begin with https://";
    if (!target.address && is_localhost(target.host) && !policy.allows_loopback) return kNotPublic;
    if (target.address && !may_connect(target.is_https, *target.address, policy)) return kNotPublic;
    return std::nullopt;
}

}  // namespace

std::variant<WebhookTarget, std::string> read_webhook_url(const std::string& url,
                                                          const UrlPolicy& policy) {
    if (const auto fault = fault_in_text(url)) return *fault;
    WebhookTarget target;
    target.url.reset(curl_url());
    if (!target.url) throw std::bad_alloc();
    CURLU* parsed = target.url.get();
    if (curl_url_set(parsed, CURLUPART_URL, url.c_str(), CURLU_DISALLOW_USER) != CURLUE_OK)
        return "is not a valid URL";
    target.is_https = part_of(parsed, CURLUPART_SCHEME) == "https";
    const auto port = parse_number<int>(part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT));
    if (!port || *port < 1 || *port > kMaxPort) return "must have a port from 1 to 65535";
    target.port = *port;
    if (const auto fault = read_host(target)) return *fault;
    if (const auto fault = fault_in_target(target, policy)) return *fault;
    return target;
}

bool may_connect(bool is_https, const IpAddress& address, const UrlPolicy& policy) {
    switch (reach_of(address)) {
        case Reach::Public:
            return is_https;
        case Reach::Loopback:
            return policy.allows_loopback;
        case Reach::Special:
            return false;
    }
    return false;
}

bool may_connect(bool is_https, const std::vector<IpAddress>& addresses, const UrlPolicy& policy) {
    return std::all_of(addresses.begin(), addresses.end(), [&](const IpAddress& address) {
        return may_connect(is_https, address, policy);
    });
}

std::optional<std::string> fault_in_webhook_url(const std::string& url, const UrlPolicy& policy,
                                                LookUp look_up) {
    const auto read = read_webhook_url(url, policy);
    if (const auto* fault = std::get_if<std::string>(&read)) return *fault;
    const auto& target = std::get<WebhookTarget>(read);
    if (target.address || look_up == LookUp::No) return std::nullopt;
    if (!may_connect(target.is_https, resolve(target.host, policy.dns, kLookUpTime), policy))
        return kNotPublic;
    return std::nullopt;
}

}  // namespace muster::net
