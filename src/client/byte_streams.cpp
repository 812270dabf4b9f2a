#include "client/byte_streams.hpp"

#include "base/command_line.hpp"
#include "base/text.hpp"
#include "client/stopped.hpp"

#include <iconv.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kStreamBytes = std::size_t{64} << 10U;
// Of gzip data without content, such as empty blocks, one after the other.
constexpr std::size_t kMostEmptyBytes = std::size_t{1} << 20U;

// A stream whose parts come from refill().
class RefilledBuffer : public std::streambuf {
  protected:
    // The next bytes, which stay valid until the next call; empty at the end.
    virtual std::string_view refill() = 0;

    int_type underflow() override {
        const std::string_view part = refill();
        if (part.empty()) return traits_type::eof();
        char* begin = const_cast<char*>(part.data());  // the stream is not written
        setg(begin, begin, begin + part.size());
        return traits_type::to_int_type(*begin);
    }
};

class FileBuffer : public RefilledBuffer {
  public:
    explicit FileBuffer(int descriptor) : descriptor_(descriptor) {}

  protected:
    std::string_view refill() override {
        for (;;) {
            const ssize_t count = pread(descriptor_, bytes_.data(), bytes_.size(), offset_);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw std::system_error(errno, std::generic_category());
            offset_ += count;
            return {bytes_.data(), static_cast<std::size_t>(count)};
        }
    }

  private:
    int descriptor_;
    off_t offset_ = 0;
    std::array<char, kStreamBytes> bytes_{};
};

class GzipBuffer : public RefilledBuffer {
  public:
    explicit GzipBuffer(std::unique_ptr<std::streambuf> source) : source_(std::move(source)) {
        constexpr int kGzipOnly = 15 + 16;
        if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
    }
    GzipBuffer(const GzipBuffer&) = delete;
    GzipBuffer& operator=(const GzipBuffer&) = delete;
    ~GzipBuffer() override { inflateEnd(&stream_); }

  protected:
    std::string_view refill() override {
        std::size_t written = 0;
        std::size_t without_content = 0;
        while (written == 0) {
            if (stream_.avail_in == 0 && !read_more()) return {};
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
            stream_.avail_out = static_cast<uInt>(out_.size());
            without_content += stream_.avail_in;
            const int result = inflate(&stream_, Z_NO_FLUSH);
            without_content -= stream_.avail_in;
            written = out_.size() - stream_.avail_out;
            is_inside_ = result != Z_STREAM_END;
            if (result == Z_STREAM_END) inflateReset(&stream_);  // another member may follow
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
                throw std::runtime_error("its gzip data is damaged");
            if (written == 0 && without_content > kMostEmptyBytes)
                throw std::runtime_error("its gzip data has more than 1 MiB without content");
        }
        return {out_.data(), written};
    }

  private:
    bool read_more() {
        const std::streamsize count =
            source_->sgetn(in_.data(), static_cast<std::streamsize>(in_.size()));
        if (count == 0 && is_inside_) throw std::runtime_error("its gzip data ends too early");
        stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
        stream_.avail_in = static_cast<uInt>(count);
        return count > 0;
    }

    std::unique_ptr<std::streambuf> source_;
    z_stream stream_{};
    bool is_inside_ = true;  // of a member
    std::array<char, kStreamBytes> in_{};
    std::array<char, kStreamBytes> out_{};
};

class Utf8Buffer : public RefilledBuffer {
  public:
    Utf8Buffer(std::unique_ptr<std::streambuf> source, const std::string& encoding)
        : source_(std::move(source)),
          unit_(encoding.starts_with("UTF-16") ? 2 : 1),
          converter_(iconv_open("UTF-8", encoding.c_str())) {
        if (converter_ == iconv_t(-1)) {  // NOLINT(performance-no-int-to-ptr): as iconv.h says
            throw UsageError("--encoding " + encoding +
                             " is unknown; use a name of `iconv --list`, such as windows-1252");
        }
    }
    Utf8Buffer(const Utf8Buffer&) = delete;
    Utf8Buffer& operator=(const Utf8Buffer&) = delete;
    ~Utf8Buffer() override { iconv_close(converter_); }

  protected:
    std::string_view refill() override {
        char* to = out_.data();
        std::size_t room = out_.size();
        while (to == out_.data()) {
            if (left_ == 0 || needs_more_) {
                if (!read_more()) return cut_character();
            }
            char* from = in_.data() + at_;
            const std::size_t result = iconv(converter_, &from, &left_, &to, &room);
            at_ = static_cast<std::size_t>(from - in_.data());
            needs_more_ = result == std::size_t(-1) && errno == EINVAL;
            if (result == std::size_t(-1) && errno == EILSEQ) skip_unit(to, room);
        }
        return {out_.data(), static_cast<std::size_t>(to - out_.data())};
    }

  private:
    void skip_unit(char*& to, std::size_t& room) {
        if (room == 0) return;  // the next call finds it again
        const std::size_t bytes = std::min(left_, unit_);
        at_ += bytes;
        left_ -= bytes;
        *to++ = '\xFF';
        --room;
    }

    // At the end of the file.
    std::string_view cut_character() {
        if (left_ == 0) return {};
        left_ = 0;
        out_[0] = '\xFF';
        return {out_.data(), 1};
    }

    // Keeps the incomplete character at the end of the input.
    bool read_more() {
        std::copy_n(in_.data() + at_, left_, in_.data());
        at_ = 0;
        const std::streamsize count =
            source_->sgetn(in_.data() + left_, static_cast<std::streamsize>(in_.size() - left_));
        left_ += static_cast<std::size_t>(count);
        needs_more_ = false;
        return count > 0;
    }

    std::unique_ptr<std::streambuf> source_;
    std::size_t unit_;
    iconv_t converter_;
    std::size_t at_ = 0;
    std::size_t left_ = 0;
    bool needs_more_ = false;
    std::array<char, kStreamBytes> in_{};
    std::array<char, 2 * kStreamBytes> out_{};
};

class StoppableBuffer : public RefilledBuffer {
  public:
    StoppableBuffer(std::unique_ptr<std::streambuf> source, const std::atomic<bool>& stop)
        : source_(std::move(source)), stop_(stop) {}

  protected:
    std::string_view refill() override {
        if (stop_) throw Stopped();
        const std::streamsize count =
            source_->sgetn(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
        return {bytes_.data(), static_cast<std::size_t>(count)};
    }

  private:
    std::unique_ptr<std::streambuf> source_;
    const std::atomic<bool>& stop_;
    std::array<char, kStreamBytes> bytes_{};
};

class LineEndBuffer : public RefilledBuffer {
  public:
    LineEndBuffer(std::unique_ptr<std::streambuf> source, char separator)
        : source_(std::move(source)),
          separators_(separator == 0 ? ",;\t" : std::string(1, separator)) {
        separators_ += "\r\n";
    }

  protected:
    std::string_view refill() override {
        const auto count = static_cast<std::size_t>(
            source_->sgetn(bytes_.data(), static_cast<std::streamsize>(bytes_.size())));
        const std::string_view part(bytes_.data(), count);
        const bool has_mark = is_first_ && part.starts_with(kByteOrderMark);
        is_first_ = false;
        for (std::size_t i = has_mark ? kByteOrderMark.size() : 0; i < count; ++i) {
            if (lines_ == Lines::EndWithCr) break;
            const bool is_last = i + 1 == count;
            const auto next = is_last ? source_->sgetc() : traits_type::to_int_type(bytes_[i + 1]);
            take(bytes_[i], next == traits_type::to_int_type('\n'));
        }
        return part;
    }

  private:
    enum class Lines : std::uint8_t { Unknown, EndWithLf, EndWithCr };

    void take(char& c, bool is_before_lf) {
        if (is_quoted_) {
            is_quoted_ = c != '"';
            begins_quote_ = !is_quoted_;  // the quote may be doubled
            return;
        }
        is_quoted_ = c == '"' && begins_quote_;
        if (lines_ == Lines::Unknown && (c == '\n' || (c == '\r' && !is_before_lf)))
            lines_ = c == '\n' ? Lines::EndWithLf : Lines::EndWithCr;
        if (c == '\r' && !is_before_lf && lines_ == Lines::EndWithLf) c = ' ';
        begins_quote_ = separators_.find(c) != std::string::npos;
    }

    std::unique_ptr<std::streambuf> source_;
    std::string separators_;  // after which a cell begins
    bool is_first_ = true;
    bool is_quoted_ = false;
    bool begins_quote_ = true;  // whether a quote at this place begins a quoted part
    Lines lines_ = Lines::Unknown;
    std::array<char, kStreamBytes> bytes_{};
};

}  // namespace

std::unique_ptr<std::streambuf> file_bytes(int descriptor) {
    return std::make_unique<FileBuffer>(descriptor);
}

std::unique_ptr<std::streambuf> gunzipped(std::unique_ptr<std::streambuf> source) {
    return std::make_unique<GzipBuffer>(std::move(source));
}

std::unique_ptr<std::streambuf> as_utf8(std::unique_ptr<std::streambuf> source,
                                        const std::string& encoding) {
    return std::make_unique<Utf8Buffer>(std::move(source), encoding);
}

std::unique_ptr<std::streambuf> unless_stopped(std::unique_ptr<std::streambuf> source,
                                               const std::atomic<bool>& stop) {
    return std::make_unique<StoppableBuffer>(std::move(source), stop);
}

std::unique_ptr<std::streambuf> with_one_line_end(std::unique_ptr<std::streambuf> source,
                                                  char separator) {
    return std::make_unique<LineEndBuffer>(std::move(source), separator);
}

}  // namespace muster::client
