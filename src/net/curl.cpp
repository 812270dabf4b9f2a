#include "net/curl.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>

namespace muster::net {

void initialize_curl() {
    static std::once_flag once;
    std::call_once(once, [] { check(curl_global_init(CURL_GLOBAL_DEFAULT)); });
}

void check(CURLcode code) {
    if (code != CURLE_OK)
        throw std::runtime_error(std::string("curl: ") + curl_easy_strerror(code));
}

void harden(CURL* curl, const char* protocols) {
    set(curl, CURLOPT_PROTOCOLS_STR, protocols);
    set(curl, CURLOPT_FOLLOWLOCATION, 0L);
    set(curl, CURLOPT_NOSIGNAL, 1L);
    set(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    set(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    set(curl, CURLOPT_PROXY, "");
    set(curl, CURLOPT_NOPROXY, "*");
}

void trust(CURL* curl, const std::string& ca_file) {
    if (ca_file.empty()) return;
    set(curl, CURLOPT_CAINFO, ca_file.c_str());
    set<const char*>(curl, CURLOPT_CAPATH, nullptr);  // Debian's libcurl also has a default folder
}

CurlHandle new_curl() {
    initialize_curl();
    CurlHandle curl(curl_easy_init());
    if (!curl) throw std::bad_alloc();
    return curl;
}

void append(CurlList& list, const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list.release());
    list.reset(longer);
}

bool is_header_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return is_control(c) && c != '\t'; });
}

}  // namespace muster::net
