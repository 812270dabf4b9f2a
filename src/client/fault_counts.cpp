#include "client/fault_counts.hpp"

#include "client/console.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace muster::client {

void FaultCounts::add(const RowFault& fault, std::size_t line) {
    constexpr std::size_t kMostGroups = 2000;  // 500 columns with some reasons each
    auto key = std::make_tuple(fault.column, fault.code, fault.rule);
    if (groups_.size() >= kMostGroups && !groups_.contains(key)) return;
    Group& group = groups_.try_emplace(std::move(key), Group{fault, line, 0}).first->second;
    ++group.rows;
}

std::string FaultCounts::text() const {
    constexpr std::size_t kMostLines = 10;
    std::vector<const Group*> sorted;
    for (const auto& [key, group] : groups_) sorted.push_back(&group);
    std::ranges::stable_sort(sorted, std::greater<>(), &Group::rows);
    std::string text;
    for (const Group* group : std::span(sorted).first(std::min(kMostLines, sorted.size()))) {
        const bool is_one = group->rows == 1;
        text += "\n  " + grouped(group->rows) + (is_one ? " row: " : " rows: ") +
                group->first.message() + (is_one ? " (line " : " (first in line ") +
                std::to_string(group->line) + ")";
    }
    if (sorted.size() > kMostLines)
        text += "\n  and " + grouped(sorted.size() - kMostLines) + " more reasons";
    return text;
}

}  // namespace muster::client
