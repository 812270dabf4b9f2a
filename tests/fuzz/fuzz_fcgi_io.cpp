// http/fcgi_io.hpp over a real socket: whatever a peer sends, the server ends or answers the
// connection, and the parameters arrive as they were sent. Input: the bytes of a connection, if the
// first one is 1, the version of FastCGI. Otherwise lines NAME=value, an empty line, and the body.
#include "fuzz/fuzz.hpp"
#include "http/fcgi_io.hpp"
#include "http/fcgi_records.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <map>
#include <string>

using namespace muster;
using fuzz::must;

namespace {

constexpr std::size_t kBodyLimit = std::size_t{64} << 10U;
// Less than the buffer of a socket, so that one thread can play both sides.
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;

// A listening socket with an address that the kernel chooses.
struct Listener {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    socklen_t length = sizeof address;

    Listener() {
        std::signal(SIGPIPE, SIG_IGN);
        address.sun_family = AF_UNIX;
        auto* const name = reinterpret_cast<sockaddr*>(&address);
        must(bind(fd, name, sizeof address.sun_family) == 0 && listen(fd, 8) == 0);
        must(getsockname(fd, name, &length) == 0);
    }
    int connect() const {
        const int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        must(::connect(peer, reinterpret_cast<const sockaddr*>(&address), length) == 0);
        return peer;
    }
};

void append_record(std::string& to, char type, std::string_view content) {
    const auto size = static_cast<unsigned>(content.size());
    to.append({1, type, 0, 1, static_cast<char>(size >> 8U), static_cast<char>(size), 0, 0});
    to += content;
}

void append_stream(std::string& to, char type, std::string_view content) {
    constexpr std::size_t kMostOfRecord = 65'535;
    while (!content.empty()) {
        append_record(to, type, content.substr(0, kMostOfRecord));
        content.remove_prefix(std::min(kMostOfRecord, content.size()));
    }
    append_record(to, type, "");
}

void append_length(std::string& to, std::size_t length) {
    if (length < 128) {
        to += static_cast<char>(length);
        return;
    }
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        to += static_cast<char>((length >> shift & 0xffU) | (shift == 24U ? 0x80U : 0U));
    }
}

using Parameters = std::multimap<std::string, std::string, std::less<>>;

// The bytes of a request with these parameters.
std::string encoded(const Parameters& parameters, std::string_view body) {
    std::string pairs;
    for (const auto& [name, value] : parameters) {
        append_length(pairs, name.size());
        append_length(pairs, value.size());
        pairs.append(name).append(value);
    }
    std::string bytes;
    append_record(bytes, 1, std::string_view("\0\1\0\0\0\0\0\0", 8));
    append_stream(bytes, 4, pairs);
    append_stream(bytes, 5, body);
    return bytes;
}

Parameters lines_of(std::string_view& input) {
    Parameters parameters;
    while (!input.empty()) {
        std::string_view line = fuzz::take(input, '\n');
        if (line.empty()) break;
        const std::string_view name = fuzz::take(line, '=');
        parameters.emplace(name, line);
    }
    return parameters;
}

// The first value of a parameter.
std::string_view value_of(const Parameters& parameters, std::string_view name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? "" : std::string_view(found->second);
}

void check_request(const http::Request& request, const Parameters* sent) {
    must(request.path.find('?') == std::string::npos);
    must(request.repeated_headers.size() <= http::kSingleHeaders.size());
    must(!request.geo_country || !request.geo_country->empty());
    if (sent != nullptr && sent->find("QUERY_STRING") != sent->end()) {
        must(request.query == value_of(*sent, "QUERY_STRING"));
    }
    try {
        const auto body = request.read_body(kBodyLimit);
        must(body ? body->size() == request.content_length : request.content_length > kBodyLimit);
    } catch (const http::Aborted&) {
        return;
    }
}

// The bytes of the reply.
std::string sent_over_socket(std::string_view bytes, const Parameters* sent) {
    static const Listener kListener;
    http::FcgiServer server(kListener.fd);
    const int peer = kListener.connect();
    must(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size()));
    shutdown(peer, SHUT_WR);
    std::size_t calls = 0;
    server.serve(4, [&](std::span<const http::Request> requests, const http::Answer& answer) {
        calls += requests.size();
        for (std::size_t i = 0; i < requests.size(); ++i) {
            check_request(requests[i], sent);
            answer(i, http::Reply{200, "text/plain", {}, "x", {}});
        }
        return std::vector<http::Deferral>{};
    });
    must(calls <= 1);
    std::array<char, 4096> reply{};
    const ssize_t got = recv(peer, reply.data(), reply.size(), 0);
    close(peer);
    return {reply.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view input = fuzz::text_of(data, std::min(size, kMostBytes));
    if (input.starts_with('\1')) {
        sent_over_socket(input, nullptr);
        return 0;
    }
    const Parameters parameters = lines_of(input);
    const std::string bytes = encoded(parameters, input);
    if (bytes.size() > 2 * kMostBytes) return 0;
    const bool is_request = http::read_head(bytes).state == http::HeadState::Complete;
    const std::string reply = sent_over_socket(bytes, &parameters);
    must(!is_request || reply.starts_with('\1'));
    return 0;
}
