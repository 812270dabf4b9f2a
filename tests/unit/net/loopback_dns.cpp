#include "unit/net/loopback_dns.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace muster::test {
namespace {

constexpr std::size_t kHead = 12;
constexpr int kAaaa = 28;

void put16(std::string& to, unsigned value) {
    to += static_cast<char>(value >> 8U & 0xffU);
    to += static_cast<char>(value & 0xffU);
}

// The address as record data, or "" if it is not of that type.
std::string data_of(const std::string& address, int type) {
    std::array<char, 16> bytes{};
    const bool is_v6 = type == kAaaa;
    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data()) != 1) return "";
    return {bytes.data(), is_v6 ? 16U : 4U};
}

}  // namespace

LoopbackDns::LoopbackDns(Script script) : script_(std::move(script)) {
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    if (bind(socket_, any, length) != 0 || getsockname(socket_, any, &length) != 0)
        throw std::runtime_error("no socket on the loopback");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
}

LoopbackDns::~LoopbackDns() {
    shutdown(socket_,
             SHUT_RDWR);  // wakes recvfrom(), although it reports that the socket is not connected
    thread_.join();
    close(socket_);
}

int LoopbackDns::questions(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    int sum = 0;
    for (const auto& [asked, times] : asked_) sum += asked.first == name ? times : 0;
    return sum;
}

void LoopbackDns::serve() {
    for (;;) {
        std::string packet(1500, '\0');
        sockaddr_in from{};
        auto* sender = reinterpret_cast<sockaddr*>(&from);
        socklen_t length = sizeof from;
        const ssize_t size = recvfrom(socket_, packet.data(), packet.size(), 0, sender, &length);
        if (size <= 0) return;
        packet.resize(static_cast<std::size_t>(size));
        const std::string reply = answer(packet);
        if (!reply.empty()) sendto(socket_, reply.data(), reply.size(), 0, sender, length);
    }
}

std::string LoopbackDns::answer(const std::string& question) {
    if (question.size() <= kHead) return "";
    std::string name;
    std::size_t at = kHead;
    while (question.at(at) != '\0') {
        const auto label = static_cast<std::size_t>(question.at(at));
        name += (name.empty() ? "" : ".") + question.substr(at + 1, label);
        at += label + 1;
    }
    const int type = question.at(at + 2);
    int nth = 0;
    {
        const std::lock_guard lock(mutex_);
        nth = asked_[{name, type}]++;
    }
    const auto addresses = script_(name, nth);
    if (!addresses) return "";
    std::string records;
    unsigned count = 0;
    for (const std::string& address : *addresses) {
        const std::string data = data_of(address, type);
        if (data.empty()) continue;
        put16(records, 0xc00c);  // the name of the question
        put16(records, static_cast<unsigned>(type));
        put16(records, 1);
        records.append(4, '\0');  // TTL
        put16(records, static_cast<unsigned>(data.size()));
        records += data;
        ++count;
    }
    std::string reply = question.substr(0, 2);
    put16(reply, addresses->empty() ? 0x8183 : 0x8180);
    put16(reply, 1);
    put16(reply, count);
    reply.append(4, '\0');
    return reply + question.substr(kHead, at + 5 - kHead) + records;
}

LoopbackDns::Script knowing(std::map<std::string, std::vector<std::string>> names) {
    return [names = std::move(names)](const std::string& name, int) {
        const auto found = names.find(name);
        return std::optional(found == names.end() ? std::vector<std::string>() : found->second);
    };
}

}  // namespace muster::test
