#include "base/ids.hpp"

#include "base/random.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace muster {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

constexpr bool is_hyphen_place(std::size_t i) {
    return i == 8 || i == 13 || i == 18 || i == 23;
}

// An id has 12 bits for the fraction of its millisecond (RFC 9562, 6.2, method 3), so ids that
// processes create one after the other ascend.
constexpr std::int64_t kTicks = 1 << 12;  // of a millisecond

std::int64_t ticks_now() {
    using namespace std::chrono;
    constexpr std::int64_t kNanoseconds = 1'000'000;
    const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    const std::int64_t milliseconds = Timestamp::of_wall_clock(now / kNanoseconds).milliseconds();
    return milliseconds * kTicks + now % kNanoseconds * kTicks / kNanoseconds;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

Uuid Uuid::v7() {
    thread_local std::int64_t last_tick = 0;
    last_tick = std::max(ticks_now(), last_tick + 1);

    Uuid uuid;
    draw_random(uuid.bytes_.data() + 8, 8);
    std::int64_t milliseconds = last_tick / kTicks;
    for (int i = 5; i >= 0; --i, milliseconds >>= 8) {
        uuid.bytes_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(milliseconds & 0xff);
    }
    const std::int64_t fraction = last_tick % kTicks;
    uuid.bytes_[6] = static_cast<std::uint8_t>(0x70 | fraction >> 8);
    uuid.bytes_[7] = static_cast<std::uint8_t>(fraction & 0xff);
    uuid.bytes_[8] = static_cast<std::uint8_t>(0x80U | (uuid.bytes_[8] & 0x3fU));
    return uuid;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
    if (text.size() != kTextLength) return std::nullopt;
    Uuid uuid;
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_hyphen_place(i)) {
            if (text[i] != '-') return std::nullopt;
            continue;
        }
        const int value = hex_digit(text[i]);
        if (value < 0) return std::nullopt;
        std::uint8_t& byte = uuid.bytes_[digits / 2];
        byte = static_cast<std::uint8_t>(byte << 4 | value);
        ++digits;
    }
    return uuid;
}

std::optional<Uuid> Uuid::from_bytes(std::string_view bytes) {
    if (bytes.size() != kBytes) return std::nullopt;
    Uuid uuid;
    std::memcpy(uuid.bytes_.data(), bytes.data(), kBytes);
    return uuid;
}

std::string Uuid::text() const {
    std::string text(kTextLength, '-');
    std::size_t place = 0;
    for (const std::uint8_t byte : bytes_) {
        if (is_hyphen_place(place)) ++place;
        text[place++] = kHex[byte >> 4];
        text[place++] = kHex[byte & 0xf];
    }
    return text;
}

}  // namespace muster
