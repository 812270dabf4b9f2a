#include "base/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace muster {
namespace {

class Inflater {
  public:
    explicit Inflater(std::string_view bytes) {
        // zlib does not change its input.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        constexpr int kGzipOnly = 16 + MAX_WBITS;
        if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    // With one byte more than the limit, a longer text is noticed.
    Gunzipped run(std::size_t limit) {
        std::string text;
        for (int members = 0; members < kMostGzipMembers; ++members) {
            const Gunzip result = member(text, limit);
            if (result != Gunzip::Complete) return {result, ""};
            if (stream_.avail_in == 0) return {Gunzip::Complete, std::move(text)};
            if (inflateReset(&stream_) != Z_OK) break;
        }
        return {Gunzip::Malformed, ""};
    }

  private:
    Gunzip member(std::string& text, std::size_t limit) {
        for (;;) {
            const std::size_t most = std::min(piece_.size(), limit + 1 - text.size());
            stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
            stream_.avail_out = static_cast<uInt>(most);
            const int status = inflate(&stream_, Z_BLOCK);  // up to the end of a block
            const std::size_t got = most - stream_.avail_out;
            text.append(piece_.data(), got);
            if (text.size() > limit) return Gunzip::TooLong;
            if (status == Z_STREAM_END) return Gunzip::Complete;
            if (status != Z_OK || (got == 0 && stream_.avail_in == 0)) return Gunzip::Malformed;
            if (is_before_dynamic_block() &&
                ++dynamic_blocks_ > kFreeDynamicBlocks + text.size() / kTextPerDynamicBlock)
                return Gunzip::TooManyBlocks;
        }
    }

    // RFC 1951 section 3.2.3: a block begins with a bit for the last one and two bits of its type.
    bool is_before_dynamic_block() const {
        constexpr unsigned kBetweenBlocks = 128;
        constexpr unsigned kAfterLastBlock = 64;
        constexpr unsigned kDynamic = 2;
        const auto state = static_cast<unsigned>(stream_.data_type);
        if ((state & kBetweenBlocks) == 0 || (state & kAfterLastBlock) != 0) return false;
        if (stream_.avail_in == 0) return false;  // cut off
        const unsigned unused = state & 7U;       // bits of the byte before
        const unsigned before = static_cast<unsigned>(stream_.next_in[-1]) >> (8U - unused);
        const unsigned next = before | static_cast<unsigned>(stream_.next_in[0]) << unused;
        return ((next >> 1U) & 3U) == kDynamic;
    }

    z_stream stream_{};
    std::size_t dynamic_blocks_ = 0;  // of all members
    std::array<char, 65'536> piece_{};
};

}  // namespace

Gunzipped gunzip(std::string_view bytes, std::size_t limit) {
    if (bytes.empty()) return {};
    return Inflater(bytes).run(limit);
}

}  // namespace muster
