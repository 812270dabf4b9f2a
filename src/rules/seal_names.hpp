// What each sealed value is bound to (base/sealing.hpp): said once for whoever seals, opens, and
// seals anew (store/secrets.cpp).
#pragma once

#include "base/ids.hpp"

#include <string>
#include <string_view>

namespace muster::rules {

inline std::string totp_seal_name(const AdminId& admin) {
    return "totp:" + std::string(admin.bytes());
}

inline std::string mail_seal_name(const MailId& mail) {
    return "mail:" + mail.text();
}

// A recorded reply is bound to its Idempotency-Key by its inner seal.
inline constexpr std::string_view kReplySealName = "reply";

}  // namespace muster::rules
