#include "http/message.hpp"

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

}  // namespace muster::http
