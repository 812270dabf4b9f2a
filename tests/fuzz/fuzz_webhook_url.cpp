// net/webhooks/target.hpp: an accepted webhook URL leads to one public address, or to a name that
// no function on this machine reads as an address. No name is looked up.
#include "net/webhooks/target.hpp"

#include "fuzz/fuzz.hpp"

#include <netdb.h>

using namespace muster;
using fuzz::must;

namespace {

using Read = std::variant<net::WebhookTarget, std::string>;

// Whether the C library reads it as an address, in any notation.
std::optional<net::IpAddress> address_of(const std::string& host) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
    const auto address = net::IpAddress::of(found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return address;
}

std::string text_of(const net::WebhookTarget& target) {
    char* raw = nullptr;
    must(curl_url_get(target.url.get(), CURLUPART_URL, &raw, 0) == CURLUE_OK);
    std::string text = raw;
    curl_free(raw);
    return text;
}

void check(const net::WebhookTarget& target, const net::UrlPolicy& policy) {
    must(target.port >= 1 && target.port <= 65535);
    must(address_of(target.host) == target.address);
    must(target.host.find_first_of(" \r\n\t/\\@#?%[]") == std::string::npos);
    if (target.address) must(net::may_connect(target.is_https, *target.address, policy));
    const Read again = net::read_webhook_url(text_of(target), policy);
    const auto* same = std::get_if<net::WebhookTarget>(&again);
    must(same != nullptr);
    must(same->host == target.host && same->port == target.port);
    must(same->is_https == target.is_https && same->address == target.address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string url(fuzz::text_of(data, size));
    const net::UrlPolicy production;
    const net::UrlPolicy testing{true, ""};
    const Read strict = net::read_webhook_url(url, production);
    const Read lenient = net::read_webhook_url(url, testing);
    if (const auto* target = std::get_if<net::WebhookTarget>(&strict)) {
        check(*target, production);
        must(target->is_https && target->host != "localhost");
        if (target->address) must(net::reach_of(*target->address) == net::Reach::Public);
        must(std::holds_alternative<net::WebhookTarget>(lenient));
    } else {
        must(!std::get<std::string>(strict).empty());
    }
    if (const auto* target = std::get_if<net::WebhookTarget>(&lenient)) check(*target, testing);
    return 0;
}
