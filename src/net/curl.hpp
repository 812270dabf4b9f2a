// Shared parts of the files in net/ that use libcurl. Do not include it outside net/.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace muster::net {

// The most bytes of all header lines of a reply: of 1xx replies, of the head and of trailers.
inline constexpr std::size_t kMaxHead = std::size_t{64} << 10U;

// Initializes libcurl once per process. Thread-safe.
void initialize_curl();

// Throws std::runtime_error unless the code is CURLE_OK.
void check(CURLcode code);

template <class Value>
void set(CURL* curl, CURLoption option, Value value) {
    check(curl_easy_setopt(curl, option, value));
}

// Sets the options of every transfer: only these protocols ("http,https"), no redirects, no
// signals, no .netrc, TLS 1.2 or later with a verified certificate, no proxy. Call it before
// setting the options of one transfer.
void harden(CURL* curl, const char* protocols);

// Trusts only the authorities in this PEM file. "" keeps the system's.
void trust(CURL* curl, const std::string& ca_file);

struct FreeCurl {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurl>;
using CurlList = std::unique_ptr<curl_slist, FreeCurl>;
using CurlError = std::array<char, CURL_ERROR_SIZE>;

// A new easy handle. Throws std::bad_alloc.
[[nodiscard]] CurlHandle new_curl();
// Appends a line to the list. Throws std::bad_alloc.
void append(CurlList& list, const std::string& line);

// True if the text has no line end and no other control character except tab, as headers require.
[[nodiscard]] bool is_header_text(std::string_view text);

}  // namespace muster::net
