// A request from the parameters that nginx sends (nginx/snippets/muster-fastcgi.conf).
#pragma once

#include "http/fcgi_records.hpp"
#include "http/message.hpp"

namespace muster::http {

// Without read_body. Parameters that are missing or invalid are empty.
Request make_request(const Parameters& parameters);

}  // namespace muster::http
