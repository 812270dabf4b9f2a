// Random bytes for ids and draws. Keys, credentials and nonces use random_bytes() of
// base/crypto.hpp.
#pragma once

#include <cstddef>

namespace muster {

// Fills `to` from a buffer of this thread, which is refilled in bulk: a call to OpenSSL for few
// bytes takes longer than to create an id. Bytes are cleared from the buffer when they are drawn. A
// forked process refills first, so that it never draws bytes of its parent.
void draw_random(void* to, std::size_t count);

}  // namespace muster
