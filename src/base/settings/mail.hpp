// [mail] of muster.conf: the mail server that accepts outgoing mail.
#pragma once

#include "base/secret.hpp"

#include <string>

namespace muster {

struct MailSettings {
    std::string url;
    std::string from;
    std::string user;
    Secret password;
    std::string tls;
    std::string ca_file;
};

}  // namespace muster
