#include "http/message.hpp"

#include <arpa/inet.h>

#include <array>

namespace muster::http {
namespace {

constexpr std::array<std::string_view, 8> kMethods = {"GET",    "POST", "PATCH",   "PUT",
                                                      "DELETE", "HEAD", "OPTIONS", "OTHER"};

}  // namespace

std::string_view text_of(Method method) {
    return kMethods[static_cast<std::size_t>(method)];
}

Method method_of(std::string_view text) {
    for (std::size_t i = 0; i + 1 < kMethods.size(); ++i) {
        if (kMethods[i] == text) return static_cast<Method>(i);
    }
    return Method::Other;
}

std::string network_of(const std::string& address) {
    constexpr std::size_t kNetworkBytes = 8;
    std::array<char, 16> bytes{};
    if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
    return {bytes.data(), kNetworkBytes};
}

}  // namespace muster::http
