// Bounds the bytes that a peer sends with a reply, in relation to its body.
#pragma once

#include "net/curl.hpp"

#include <cstddef>
#include <cstdint>

namespace muster::net {

// Ends a transfer whose reply has many more bytes than its body. Chunk extensions are an example:
// curl removes them, so that the other callbacks never see them.
class ReplyBound {
  public:
    ReplyBound() = default;
    ReplyBound(const ReplyBound&) = delete;  // curl holds a pointer to it until forget()
    ReplyBound& operator=(const ReplyBound&) = delete;

    // Sets the options of the transfer. This object must outlive it.
    void watch(CURL* curl);
    // Removes the pointers to this object from a handle that outlives it.
    static void forget(CURL* curl) noexcept;
    // Call it with each piece of the body.
    void add_body(std::size_t bytes) { body_ += bytes; }
    // True if the reply is too large. Use this instead of curl's code: the reply may have ended
    // before the bound could end the transfer.
    [[nodiscard]] bool is_exceeded() const;

  private:
    static int on_debug(CURL* curl, curl_infotype type, char* data, std::size_t size,
                        void* to) noexcept;
    static int on_progress(void* to, curl_off_t total, curl_off_t now, curl_off_t upload_total,
                           curl_off_t upload_now) noexcept;

    std::uint64_t received_ = 0;  // without TLS, before the chunks are decoded
    std::uint64_t body_ = 0;
};

}  // namespace muster::net
