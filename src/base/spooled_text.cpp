#include "base/spooled_text.hpp"

#include <cstdint>
#include <vector>

namespace muster {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

}  // namespace

void SpooledText::append(std::string_view piece) {
    size_ += piece.size();
    if (!rest_ && beginning_.size() + piece.size() <= most_in_memory_) {
        beginning_ += piece;
        return;
    }
    if (!rest_) {
        rest_.emplace();
        unwritten_.reserve(kPieceBytes);
    }
    if (unwritten_.size() + piece.size() > kPieceBytes) finish();
    if (piece.size() > kPieceBytes) {
        rest_->write(piece);
    } else {
        unwritten_ += piece;
    }
}

void SpooledText::finish() {
    if (rest_) rest_->write(unwritten_);
    unwritten_.clear();
}

void SpooledText::read(const std::function<bool(std::string_view)>& sink) const {
    if (!sink(beginning_) || !rest_) return;
    std::vector<char> piece(kPieceBytes);
    std::int64_t place = 0;
    while (const std::size_t got = rest_->read(place, piece)) {
        if (!sink({piece.data(), got})) return;
        place += static_cast<std::int64_t>(got);
    }
}

}  // namespace muster
