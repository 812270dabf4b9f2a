// What the files of net/ that speak through libcurl have in common. Nobody outside net/ includes
// it.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace muster::net {

// Once in a program, before the first handle; from any thread.
void initialise_curl();

// Throws std::runtime_error for anything but CURLE_OK.
void check(CURLcode code);

template <class Value>
void set(CURL* curl, CURLoption option, Value value) {
    check(curl_easy_setopt(curl, option, value));
}

// What holds for every transfer: only these protocols ("http,https"), no redirects, no signals, no
// .netrc, TLS 1.2 at least with a verified certificate, and no proxy. What differs is set behind
// it.
void harden(CURL* curl, const char* protocols);

// Trusts these authorities (a PEM file) and no others; "" leaves the system's.
void trust(CURL* curl, const std::string& ca_file);

struct FreeCurl {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurl>;
using CurlList = std::unique_ptr<curl_slist, FreeCurl>;
using CurlError = std::array<char, CURL_ERROR_SIZE>;

[[nodiscard]] CurlHandle new_curl();
void append(CurlList& list, const std::string& line);

// No line end and no other control character but the tab: what a header may hold.
[[nodiscard]] bool is_header_text(std::string_view text);

}  // namespace muster::net
