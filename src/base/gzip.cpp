#include "base/gzip.hpp"

#include <zlib.h>

#include <algorithm>
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
        do {
            const Gunzip result = member(text, limit);
            if (result != Gunzip::Complete) return {result, ""};
        } while (stream_.avail_in > 0 && inflateReset(&stream_) == Z_OK);
        return {Gunzip::Complete, std::move(text)};
    }

  private:
    Gunzip member(std::string& text, std::size_t limit) {
        constexpr std::size_t kPiece = std::size_t{256} << 10U;
        for (;;) {
            const std::size_t had = text.size();
            text.resize(had + std::min(kPiece, limit + 1 - had));
            stream_.next_out = reinterpret_cast<Bytef*>(text.data() + had);
            stream_.avail_out = static_cast<uInt>(text.size() - had);
            const int status = inflate(&stream_, Z_NO_FLUSH);
            text.resize(text.size() - stream_.avail_out);
            if (text.size() > limit) return Gunzip::TooLong;
            if (status == Z_STREAM_END) return Gunzip::Complete;
            if (status != Z_OK || (text.size() == had && stream_.avail_in == 0)) {
                return Gunzip::Malformed;
            }
        }
    }

    z_stream stream_{};
};

}  // namespace

Gunzipped gunzip(std::string_view bytes, std::size_t limit) {
    if (bytes.empty()) return {};
    return Inflater(bytes).run(limit);
}

}  // namespace muster
