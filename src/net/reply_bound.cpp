#include "net/reply_bound.hpp"

namespace muster::net {
namespace {

constexpr std::uint64_t kMostWithoutBody = 2 * kMaxHead;
// A chunk of one byte has 6 bytes, or 13 if its size has eight digits.
constexpr std::uint64_t kMostPerByteOfBody = 16;

}  // namespace

void ReplyBound::watch(CURL* curl) {
    // Only the debug function sees chunks before they are decoded. curl ignores its result, so the
    // progress function ends the transfer. curl calls that after each 1.6 MB at the latest.
    set(curl, CURLOPT_VERBOSE, 1L);
    set(curl, CURLOPT_DEBUGFUNCTION, on_debug);
    set(curl, CURLOPT_DEBUGDATA, this);
    set(curl, CURLOPT_NOPROGRESS, 0L);
    set(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    set(curl, CURLOPT_XFERINFODATA, this);
}

void ReplyBound::forget(CURL* curl) noexcept {
    curl_easy_setopt(curl, CURLOPT_VERBOSE, 0L);
    curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, nullptr);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, nullptr);
}

bool ReplyBound::is_exceeded() const {
    return received_ > kMostWithoutBody + kMostPerByteOfBody * body_;
}

// The data may contain secrets. It is only counted.
int ReplyBound::on_debug(CURL* /*curl*/, curl_infotype type, char* /*data*/, std::size_t size,
                         void* to) noexcept {
    if (type == CURLINFO_HEADER_IN || type == CURLINFO_DATA_IN)
        static_cast<ReplyBound*>(to)->received_ += size;
    return 0;
}

int ReplyBound::on_progress(void* to, curl_off_t /*total*/, curl_off_t /*now*/,
                            curl_off_t /*upload_total*/, curl_off_t /*upload_now*/) noexcept {
    return static_cast<const ReplyBound*>(to)->is_exceeded() ? 1 : 0;
}

}  // namespace muster::net
