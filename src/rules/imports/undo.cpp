#include "rules/imports/undo.hpp"

#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/status.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace muster::rules {
namespace {

constexpr std::string_view kAttributePrefix = "attributes.";

std::string path_of(std::string_view attribute) {
    return std::string(kAttributePrefix).append(attribute);
}

bool is_same(const AttributeEntry& left, const AttributeEntry& right) {
    return left.key == right.key && left.value == right.value &&
           left.provenance == right.provenance && left.updated_at == right.updated_at;
}

// The path of the first attribute that differs; both lists are sorted by key.
std::string changed_attribute(const std::vector<AttributeEntry>& written,
                              const std::vector<AttributeEntry>& stored) {
    const auto [left, right] =
        std::mismatch(written.begin(), written.end(), stored.begin(), stored.end(), is_same);
    if (left == written.end() && right == stored.end()) return "";
    if (left == written.end()) return path_of(right->key);
    if (right == stored.end()) return path_of(left->key);
    return path_of(std::min(left->key, right->key));
}

// The path of the first value that differs from what the row wrote when it made the member; "" if
// none does.
std::string changed_value(const StagedRow& row, const Member& member) {
    for (std::size_t i = 0; i < kTextFields.size(); ++i) {
        const auto& stored = member.*kTextFields[i].stored;
        if (stored.value_or("") != row.texts[i + 1]) return std::string(kTextFields[i].name);
    }
    if (member.status != text_of(MemberStatus::Active)) return "status";
    const auto written =
        attribute_document(row.attributes(), Provenance::Import, member.created_at);
    return changed_attribute(attribute_entries(written), attribute_entries(member.attributes));
}

RowUndo kept(const RowOutcome& outcome, RowError error, std::string key = "") {
    return {{RowState::Kept, error, std::move(key), outcome.user_id}, std::nullopt};
}

RowUndo undo_new_member(const StagedRow& row, const RowOutcome& outcome, const Member* member,
                        bool has_events) {
    // Without the row's own id, it is another membership, which was made after a removal.
    if (!member || member->member_id != row.member_id) return {outcome, std::nullopt};
    std::string changed = changed_value(row, *member);
    if (!changed.empty()) return kept(outcome, RowError::ChangedSince, std::move(changed));
    if (has_events) return kept(outcome, RowError::HasEvents);
    const bool is_created = outcome.state == RowState::Created;
    const RowState state = is_created ? RowState::Removed : RowState::Detached;
    return {{state, RowError::None, "", outcome.user_id}, std::nullopt};
}

// Empties the values of one member that a row filled.
class Emptying {
  public:
    Emptying(const StagedRow& row, const FilledRow& filled, Member member)
        : row_(row), filled_(filled), member_(std::move(member)) {}

    void run() {
        for (std::size_t i = 0; i < kTextFields.size(); ++i) {
            if ((filled_.values.texts >> i & 1U) != 0) empty_text(i);
        }
        empty_attributes();
    }

    bool is_changed() const { return is_changed_; }
    const std::string& kept() const { return kept_; }
    Member member() { return std::move(member_); }

  private:
    void empty_text(std::size_t field) {
        auto& stored = member_.*kTextFields[field].stored;
        if (!stored) return;
        if (*stored != row_.texts[field + 1]) {
            keep(std::string(kTextFields[field].name));
            return;
        }
        stored.reset();
        is_changed_ = true;
    }

    void empty_attributes() {
        const auto keys = attribute_keys(row_.attributes());
        const auto& filled = filled_.values.attributes;
        auto entries = attribute_entries(member_.attributes);
        const std::size_t before = entries.size();
        for (std::size_t i = 0; i < std::min(keys.size(), filled.size()); ++i) {
            if (filled[i]) empty_attribute(entries, keys[i]);
        }
        if (entries.size() == before) return;
        member_.attributes = attribute_document(entries);
        is_changed_ = true;
    }

    void empty_attribute(std::vector<AttributeEntry>& entries, const std::string& key) {
        const auto entry = std::find_if(entries.begin(), entries.end(),
                                        [&](const AttributeEntry& at) { return at.key == key; });
        if (entry == entries.end()) return;
        const bool is_own =
            entry->provenance == Provenance::Import && entry->updated_at == filled_.at;
        is_own ? void(entries.erase(entry)) : keep(path_of(key));
    }

    // Remembers the first value that is kept.
    void keep(std::string path) {
        if (kept_.empty()) kept_ = std::move(path);
    }

    const StagedRow& row_;
    const FilledRow& filled_;
    Member member_;
    std::string kept_;
    bool is_changed_ = false;
};

RowUndo undo_merge(const StagedRow& row, const RowOutcome& outcome, const Member* member) {
    if (!member) return {outcome, std::nullopt};
    if (!outcome.filled) return kept(outcome, RowError::NotRecorded);
    const bool is_later_member = member->created_at > outcome.filled->at;
    if (!outcome.filled->values.any() || is_later_member) return {outcome, std::nullopt};
    Emptying emptying(row, *outcome.filled, *member);
    emptying.run();
    RowUndo undo{outcome, std::nullopt};
    if (emptying.is_changed()) {
        undo.outcome = {RowState::Emptied, RowError::None, "", outcome.user_id};
    }
    if (!emptying.kept().empty()) {
        undo.outcome = kept(outcome, RowError::ChangedSince, emptying.kept()).outcome;
    }
    if (emptying.is_changed()) undo.emptied = emptying.member();
    return undo;
}

}  // namespace

RowUndo undo_row(const StagedRow& row, const RowOutcome& outcome, const Member* member,
                 bool has_events) {
    if (!is_committed(outcome.state)) return {outcome, std::nullopt};
    try {
        return outcome.state == RowState::Merged
                   ? undo_merge(row, outcome, member)
                   : undo_new_member(row, outcome, member, has_events);
    } catch (const std::invalid_argument&) {  // the stored attributes are not a document
        return kept(outcome, RowError::ChangedSince, "attributes");
    }
}

ImportUndo count_undo(const std::vector<RowOutcome>& before, const std::vector<RowOutcome>& after,
                      std::optional<RowState> committed) {
    ImportUndo counts;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (!is_committed(before[i].state)) continue;
        if (committed && before[i].state != *committed) continue;
        switch (after[i].state) {
            case RowState::Removed:
                ++counts.removed;
                break;
            case RowState::Detached:
                ++counts.detached;
                break;
            case RowState::Emptied:
                ++counts.emptied;
                break;
            case RowState::Kept:
                ++counts.kept;
                break;
            default:
                ++counts.unaffected;
        }
    }
    return counts;
}

ImportUndo scaled(const ImportUndo& sample, std::int64_t total) {
    const std::int64_t examined = sample.rows();
    if (examined == 0 || examined >= total) return sample;
    // Rounds running sums, so that the counts add up to `total`.
    std::int64_t sum = 0;
    std::int64_t scaled_sum = 0;
    const auto scale = [&](std::int64_t count) {
        sum += count;
        const std::int64_t next = (sum * total + examined / 2) / examined;
        return next - std::exchange(scaled_sum, next);
    };
    ImportUndo counts;
    counts.removed = scale(sample.removed);
    counts.detached = scale(sample.detached);
    counts.emptied = scale(sample.emptied);
    counts.kept = scale(sample.kept);
    counts.unaffected = scale(sample.unaffected);
    counts.is_estimate = true;
    return counts;
}

}  // namespace muster::rules
