#include "net/http_client.hpp"

#include "base/text.hpp"
#include "net/curl.hpp"
#include "net/reply_bound.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>

namespace muster::net {
namespace {

// Shared by the callbacks of one exchange. An exception must not pass through curl's C frames, so
// it is stored here.
struct Exchange {
    CURL* curl = nullptr;
    HttpResponse response;
    const HttpClient::BodySink* sink = nullptr;
    std::size_t max_body = 0;
    std::size_t head_size = 0;
    bool too_large = false;
    ReplyBound bound{};
    std::exception_ptr thrown;
};

bool is_success(CURL* curl) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status <= 299;
}

void take_body(Exchange& exchange, std::string_view piece) {
    exchange.bound.add_body(piece.size());
    if (exchange.sink != nullptr && is_success(exchange.curl)) {
        (*exchange.sink)(piece);
        return;
    }
    if (exchange.response.body.size() + piece.size() > exchange.max_body) {
        exchange.too_large = true;
        return;
    }
    exchange.response.body += piece;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* to) {
    auto& exchange = *static_cast<Exchange*>(to);
    try {
        take_body(exchange, {data, size * count});
    } catch (...) {
        exchange.thrown = std::current_exception();
    }
    return exchange.thrown || exchange.too_large ? 0 : size * count;
}

void take_header(Exchange& exchange, std::string_view line) {
    exchange.head_size += line.size();
    if (exchange.head_size > kMaxHead) {
        exchange.too_large = true;
        return;
    }
    if (line.starts_with("HTTP/")) {  // a new head: the previous one was a 1xx
        exchange.response.headers.clear();
        return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    ascii_lower(name);
    exchange.response.headers.emplace_back(std::move(name), trimmed_ascii(line.substr(colon + 1)));
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* to) {
    auto& exchange = *static_cast<Exchange*>(to);
    try {
        take_header(exchange, {data, size * count});
    } catch (...) {
        exchange.thrown = std::current_exception();
    }
    return exchange.thrown || exchange.too_large ? 0 : size * count;
}

bool was_connected(CURL* curl) {
    const char* address = nullptr;
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &address);
    return address != nullptr && *address != '\0';
}

TransportFailure failure_of(CURLcode code, CURL* curl) {
    switch (code) {
        case CURLE_UNSUPPORTED_PROTOCOL:  // unsupported by curl, or sent by the peer
            return was_connected(curl) ? TransportFailure::Broken : TransportFailure::BadUrl;
        case CURLE_URL_MALFORMAT:
            return TransportFailure::BadUrl;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
            return TransportFailure::Resolve;
        case CURLE_COULDNT_CONNECT:
            return TransportFailure::Connect;
        case CURLE_OPERATION_TIMEDOUT:
            return TransportFailure::Timeout;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_ISSUER_ERROR:
            return TransportFailure::Tls;
        default:  // also CURLE_SSL_CONNECT_ERROR: an interrupted handshake may succeed later
            return TransportFailure::Broken;
    }
}

CurlList header_list(const HttpRequest& request) {
    CurlList list;
    // Without this, curl waits up to a second for "100 Continue" before each larger body.
    append(list, "Expect:");
    // Otherwise curl sends the content type of a form.
    if (std::none_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
            return equal_ignoring_case(header.first, "Content-Type");
        })) {
        append(list, "Content-Type:");
    }
    for (const auto& [name, value] : request.headers) {
        if (!is_header_text(name) || !is_header_text(value))
            throw std::invalid_argument("control character in header " + name);
        // "Name:" without a value would remove curl's own header; "Name;" sends an empty one.
        std::string line = name;
        line.append(value.empty() ? ";" : ": ").append(value);
        append(list, line);
    }
    return list;
}

std::string proxy_exceptions() {
    std::string hosts = "localhost,127.0.0.1,::1";
    for (const char* name : {"no_proxy", "NO_PROXY"}) {
        const char* more = std::getenv(name);
        if (more == nullptr || *more == '\0') continue;
        if (std::string_view(more) == "*") return "*";
        hosts.append(",").append(more);
        break;
    }
    return hosts;
}

void set_connection(CURL* curl, const HttpSettings& settings, bool streaming) {
    harden(curl, "http,https");
    set(curl, CURLOPT_QUICK_EXIT, 1L);  // a hanging look-up must not exceed the time limit
    // The flow control of HTTP/2 slows large uploads, and single requests gain nothing from it.
    set(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    set(curl, CURLOPT_USERAGENT, settings.user_agent.c_str());
    set(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings.connect_seconds));
    set(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings.stall_seconds));
    set(curl, CURLOPT_TIMEOUT, streaming ? 0L : static_cast<long>(settings.total_seconds));
    trust(curl, settings.ca_file);
    if (!settings.environment_proxy) return;
    set<const char*>(curl, CURLOPT_PROXY, nullptr);  // use the environment's
    set(curl, CURLOPT_NOPROXY, proxy_exceptions().c_str());
}

void set_request(CURL* curl, const HttpRequest& request, curl_slist* headers) {
    set(curl, CURLOPT_URL, request.url.c_str());
    set(curl, CURLOPT_HTTPHEADER, headers);
    if (request.method == "GET") {
        set(curl, CURLOPT_HTTPGET, 1L);
        return;
    }
    if (request.method == "HEAD") {
        set(curl, CURLOPT_NOBODY, 1L);
        return;
    }
    set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(curl, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
    set(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

}  // namespace

bool TransportError::is_transient() const {
    return failure_ != TransportFailure::BadUrl && failure_ != TransportFailure::Tls &&
           failure_ != TransportFailure::TooLarge;
}

std::string_view HttpResponse::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (key == name) return value;
    }
    return {};
}

std::optional<Timestamp> HttpResponse::date() const {
    const std::string text(header("date"));
    const std::int64_t seconds = text.empty() ? -1 : curl_getdate(text.c_str(), nullptr);
    if (seconds < 0) return std::nullopt;
    return Timestamp::of_wall_clock(1000 * seconds);
}

struct HttpClient::Handle {
    CurlHandle curl = new_curl();
    CurlError error{};
};

HttpClient::HttpClient(HttpSettings settings)
    : settings_(std::move(settings)), handle_(std::make_unique<Handle>()) {}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpResponse HttpClient::perform(const HttpRequest& request) {
    return exchange(request, nullptr);
}

HttpResponse HttpClient::download(const HttpRequest& request, const BodySink& sink) {
    return exchange(request, &sink);
}

HttpResponse HttpClient::exchange(const HttpRequest& request, const BodySink* sink) {
    CURL* curl = handle_->curl.get();
    const CurlList headers = header_list(request);
    Exchange exchange{
        .curl = curl, .response = {}, .sink = sink, .max_body = settings_.max_body, .thrown = {}};

    curl_easy_reset(curl);  // resets options only; the connection remains open
    set_connection(curl, settings_, sink != nullptr);
    set_request(curl, request, headers.get());
    handle_->error[0] = '\0';
    set(curl, CURLOPT_ERRORBUFFER, handle_->error.data());
    set(curl, CURLOPT_WRITEFUNCTION, on_body);
    set(curl, CURLOPT_WRITEDATA, &exchange);
    set(curl, CURLOPT_HEADERFUNCTION, on_header);
    set(curl, CURLOPT_HEADERDATA, &exchange);
    exchange.bound.watch(curl);

    const CURLcode code = curl_easy_perform(curl);
    exchange.bound.forget(curl);
    if (exchange.thrown) std::rethrow_exception(exchange.thrown);
    if (exchange.too_large || exchange.bound.is_exceeded())
        throw TransportError(TransportFailure::TooLarge, "the reply is larger than expected");
    if (code != CURLE_OK) {
        const char* text =
            handle_->error[0] != '\0' ? handle_->error.data() : curl_easy_strerror(code);
        throw TransportError(failure_of(code, curl), text);
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    exchange.response.status = static_cast<int>(status);
    return std::move(exchange.response);
}

}  // namespace muster::net
