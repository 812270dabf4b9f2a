#include "rules/content/dropped_html.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

std::optional<std::string> shown_name(std::string_view name) {
    if (name.empty()) return std::nullopt;
    std::string shown(name.substr(0, DroppedParts::kLongestName));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return shown;
}

}  // namespace

void DroppedParts::add(DropReason reason, std::string_view element, std::string_view attribute,
                       std::size_t line) {
    ++count_;
    DroppedHtml part{reason, shown_name(element), shown_name(attribute), line};
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const DroppedHtml& one) {
        return one.reason == reason && one.element == part.element &&
               one.attribute == part.attribute;
    });
    if (known != entries_.end()) {
        ++known->count;
    } else if (entries_.size() < kMostEntries) {
        entries_.push_back(std::move(part));
    }
}

}  // namespace muster::rules
