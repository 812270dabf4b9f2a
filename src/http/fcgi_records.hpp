// The head of a FastCGI request, checked before libfcgi reads it: libfcgi waits for missing bytes,
// and ends the process at absurd lengths (FastCGI specification 3.3, 3.4 and 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::http {

// A head has at most this many bytes. nginx limits all headers to 32 KiB, and sends some values
// more than once.
inline constexpr std::size_t kMostHeadBytes = std::size_t{128} << 10U;

enum class RequestHead : std::uint8_t { Complete, Incomplete, Invalid };

// Checks the first bytes of a connection. Complete: a BEGIN_REQUEST record for a responder and all
// its PARAMS records, with lengths that fit; any bytes may follow. Incomplete: more bytes are
// needed. Invalid: no further bytes could make it a request.
[[nodiscard]] RequestHead check_request_head(std::string_view bytes);

}  // namespace muster::http
