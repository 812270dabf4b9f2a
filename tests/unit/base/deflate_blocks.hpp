// Writes deflate blocks bit by bit (RFC 1951), as no compressor writes them.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>

namespace muster::test {

class DeflateBlocks {
  public:
    // A dynamic block of 90 bits whose only symbol is the end of the block.
    void add_empty_dynamic() {
        begin(2);
        put(0, 5);   // 257 codes of literals and lengths
        put(0, 5);   // one code of distances
        put(14, 4);  // 18 lengths of the codes of lengths follow
        for (int i = 0; i < 18; ++i) put(i == 2 || i == 17 ? 1 : 0, 3);  // of 18 and of 1
        for (const unsigned zeros : {138U, 118U}) {
            put(1, 1);
            put(zeros - 11, 7);
        }
        put(0, 1);  // the end of the block has a code of one bit
        put(0, 1);  // and so has a distance
        put(0, 1);  // the end of the block
    }
    // A fixed block of one byte 'x' and `copies` times 258 of them.
    void add_repeated(int copies) {
        begin(1);
        put_code(0x30 + 'x', 8);
        for (int i = 0; i < copies; ++i) {
            put_code(0xC0 + 285 - 280, 8);  // the length 258
            put_code(0, 5);                 // the distance 1
        }
        put_code(0, 7);
    }
    // The gzip member of these blocks and a last, empty one.
    std::string gzip_of(const std::string& text) {
        put(1, 1);
        put(1, 2);
        put(0, 7);
        while (filled_ != 0) put(0, 1);
        auto sum =
            crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
        put(sum & 0xFFFFU, 16);
        put(sum >> 16U, 16);
        put(text.size() & 0xFFFFU, 16);
        put(text.size() >> 16U, 16);
        return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + bytes_;
    }
    std::size_t size() const { return bytes_.size(); }

  private:
    void begin(unsigned type) {
        put(0, 1);  // not the last block
        put(type, 2);
    }
    void put(std::size_t value, int bits) {
        for (int i = 0; i < bits; ++i) put_bit((value >> static_cast<unsigned>(i)) & 1U);
    }
    // Huffman codes begin with their highest bit.
    void put_code(unsigned code, int bits) {
        for (int i = bits - 1; i >= 0; --i) put_bit((code >> static_cast<unsigned>(i)) & 1U);
    }
    void put_bit(std::size_t bit) {
        if (filled_ == 0) bytes_ += '\0';
        bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) |
                                          (bit << static_cast<unsigned>(filled_)));
        filled_ = (filled_ + 1) % 8;
    }

    std::string bytes_;
    int filled_ = 0;  // bits of the last byte
};

}  // namespace muster::test
