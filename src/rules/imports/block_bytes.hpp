// The bytes of stored blocks: numbers, texts and ids. Stored bytes are not trusted.
#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster::rules {

// Thrown for stored bytes that encode_* could not have written.
struct CorruptBlock : std::runtime_error {
    CorruptBlock() : std::runtime_error("a stored import block cannot be read") {}
};

inline void append_varint(std::string& to, std::size_t value) {
    for (; value >= 0x80; value >>= 7U) to += static_cast<char>(value | 0x80U);
    to += static_cast<char>(value);
}

// Reads and checks every bound.
class BlockReader {
  public:
    explicit BlockReader(std::string_view bytes) : rest_(bytes) {}

    bool done() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    std::string_view take(std::size_t count) {
        if (count > rest_.size()) throw CorruptBlock();
        const std::string_view bytes = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return bytes;
    }

    std::uint8_t byte() { return static_cast<std::uint8_t>(take(1).front()); }

    std::uint32_t number() {
        std::uint32_t value = 0;
        for (const char c : take(4)) value = value << 8U | static_cast<std::uint8_t>(c);
        return value;
    }

    std::size_t varint() {
        std::size_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            const std::uint8_t part = byte();
            value |= static_cast<std::size_t>(part & 0x7fU) << shift;
            if (part < 0x80) return value;
        }
        throw CorruptBlock();
    }

    Uuid uuid() { return *Uuid::from_bytes(take(Uuid::kBytes)); }

  private:
    std::string_view rest_;
};

}  // namespace muster::rules
