#include "ctl/table.hpp"

#include "base/unicode.hpp"

#include <algorithm>

namespace muster::ctl {
namespace {

constexpr std::size_t kWidest = 64;  // a publishable key has 57
constexpr std::size_t kGap = 2;

}  // namespace

std::string time_cell(const std::optional<Timestamp>& when, std::string_view otherwise) {
    if (!when) return std::string(otherwise);
    const std::string text = when->text();
    return text.substr(0, text.find('.')) + "Z";
}

Table::Table(const std::vector<std::string_view>& headings) {
    lines_.emplace_back(headings.begin(), headings.end());
}

void Table::add(const std::vector<std::string>& cells) {
    std::vector<std::string> line;
    line.reserve(cells.size());
    for (const std::string& cell : cells) line.push_back(cell.empty() ? "-" : printable(cell));
    lines_.push_back(std::move(line));
}

std::string Table::text() const {
    std::vector<std::size_t> widths(lines_.front().size());
    for (const auto& line : lines_) {
        for (std::size_t at = 0; at < widths.size(); ++at) {
            widths[at] = std::min(kWidest, std::max(widths[at], column_width(line.at(at))));
        }
    }
    std::string text;
    for (const auto& line : lines_) {
        for (std::size_t at = 0; at + 1 < widths.size(); ++at) {
            const std::size_t width = column_width(line[at]);
            text += line[at] + std::string(widths[at] - std::min(widths[at], width) + kGap, ' ');
        }
        text += line.back() + "\n";
    }
    return text;
}

}  // namespace muster::ctl
