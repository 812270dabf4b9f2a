#include "client/column_guess.hpp"

#include "base/text.hpp"
#include "client/column_names.hpp"
#include "rules/members/core_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace muster::client {
namespace {

using Kind = ColumnRoute::Kind;

struct Folding {
    std::string_view from;
    std::string_view to;
};

// U+0308 is the umlaut as macOS writes it, after its letter.
constexpr std::array kFoldings = {
    Folding{"ä", "ae"},          Folding{"ö", "oe"}, Folding{"ü", "ue"}, Folding{"Ä", "ae"},
    Folding{"Ö", "oe"},          Folding{"Ü", "ue"}, Folding{"ß", "ss"}, Folding{"\xCC\x88", "e"},
    Folding{"á", "a"},           Folding{"à", "a"},  Folding{"â", "a"},  Folding{"ã", "a"},
    Folding{"å", "a"},           Folding{"ç", "c"},  Folding{"é", "e"},  Folding{"è", "e"},
    Folding{"ê", "e"},           Folding{"ë", "e"},  Folding{"í", "i"},  Folding{"ì", "i"},
    Folding{"ï", "i"},           Folding{"ñ", "n"},  Folding{"ó", "o"},  Folding{"ò", "o"},
    Folding{"ô", "o"},           Folding{"õ", "o"},  Folding{"ø", "o"},  Folding{"ú", "u"},
    Folding{"ù", "u"},           Folding{"û", "u"},  Folding{"É", "e"},  Folding{"È", "e"},
    Folding{"\xC2\xA0", ""},      // no-break space
    Folding{"\xE2\x80\x93", ""},  // en dash
    Folding{"\xE2\x80\x99", ""},  // right single quotation mark
};

const Folding* folding_at(std::string_view text) {
    const auto* found =
        std::find_if(kFoldings.begin(), kFoldings.end(),
                     [&](const Folding& folding) { return text.starts_with(folding.from); });
    return found == kFoldings.end() ? nullptr : found;
}

constexpr std::string_view kAttributePrefix = "attribute:";
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// A guess for one column: its target, and the rank of the name for that target (0 is the best).
struct Guess {
    std::string target;
    std::size_t rank = 0;
};

// The position of `key` in a row's list of names, or kNone.
std::size_t place_of(std::string_view key, std::string_view names) {
    const std::vector<std::string_view> list = split(names, ' ');
    const auto found = std::find(list.begin(), list.end(), key);
    return found == list.end() ? kNone : static_cast<std::size_t>(found - list.begin());
}

std::optional<Guess> guess_by_table(std::string_view key,
                                    const rules::AttributeRegistry& registry) {
    constexpr std::size_t kBehindKeyAndLabel = 2;
    for (const ColumnNames& row : kColumnNames) {
        const std::size_t place = place_of(key, row.names);
        if (place == kNone) continue;
        if (!row.target.starts_with(kAttributePrefix)) return Guess{std::string(row.target), place};
        if (registry.find(row.target.substr(kAttributePrefix.size())) == nullptr)
            return std::nullopt;
        return Guess{std::string(row.target), kBehindKeyAndLabel + place};
    }
    return std::nullopt;
}

std::optional<Guess> guess_by_registry(std::string_view key,
                                       const rules::AttributeRegistry& registry) {
    std::optional<Guess> by_label;
    for (const rules::Attribute& attribute : registry.all()) {
        if (!attribute.enabled) continue;
        const std::string target = std::string(kAttributePrefix) + attribute.key;
        if (column_key(attribute.key) == key) return Guess{target, 0};
        if (!by_label && column_key(attribute.label) == key) by_label = Guess{target, 1};
    }
    return by_label;
}

// A core field's own name comes first, then the organization's attributes, then the table.
std::optional<Guess> guess_column(std::string_view key, const rules::AttributeRegistry& registry) {
    if (key.empty()) return std::nullopt;
    if (key == "attributes") return Guess{"attributes", 0};
    std::optional<Guess> by_table = guess_by_table(key, registry);
    if (by_table && column_key(by_table->target) == key) return by_table;
    std::optional<Guess> by_registry = guess_by_registry(key, registry);
    return by_registry ? by_registry : by_table;
}

using Guesses = std::vector<std::optional<Guess>>;

// German lists name first and last name "Vorname" and "Name".
void use_german_name(const std::vector<std::string>& keys, Guesses& guesses) {
    const bool has_vorname = std::find(keys.begin(), keys.end(), "vorname") != keys.end();
    const bool has_last_name = std::any_of(guesses.begin(), guesses.end(), [](const auto& g) {
        return g && g->target == "last_name";
    });
    if (!has_vorname || has_last_name) return;
    const auto name = std::find(keys.begin(), keys.end(), "name");
    if (name != keys.end())
        guesses[static_cast<std::size_t>(name - keys.begin())] = Guess{"last_name", 0};
}

[[noreturn]] void refuse_target(const MapOption& map, const rules::AttributeRegistry& registry) {
    std::string text = "--map " + map.column + "=" + map.target + ": ";
    if (registry.find(map.target) != nullptr)
        throw UsageError(text + "use attribute:" + map.target);
    if (map.target.starts_with(kAttributePrefix)) {
        std::string enabled;
        for (const rules::Attribute& attribute : registry.all()) {
            if (attribute.enabled) enabled.append(" ").append(attribute.key);
        }
        text += enabled.empty()
                    ? "the organization has no enabled attributes; an owner or admin "
                      "of it can enable some"
                    : "the organization has no such enabled attribute; enabled are" + enabled;
        throw UsageError(text);
    }
    text += "unknown target; use";
    for (const rules::CoreFieldEntry& entry : rules::kCoreFields)
        text.append(" ").append(entry.name).append(",");
    throw UsageError(text + " attribute:KEY or ignored");
}

ColumnRoute route_to(const std::string& column, std::string_view target) {
    ColumnRoute route;
    route.column = column;
    if (target.starts_with(kAttributePrefix)) {
        route.kind = Kind::Attribute;
        route.attribute_key = target.substr(kAttributePrefix.size());
    } else if (target == "attributes") {
        route.kind = Kind::AttributesJson;
    } else if (const auto field = rules::core_field(target)) {
        route.kind = Kind::Core;
        route.field = *field;
    }
    return route;
}

std::size_t find_column(const MapOption& map, const std::vector<std::string>& names) {
    const auto exact = std::find(names.begin(), names.end(), map.column);
    if (exact != names.end()) return static_cast<std::size_t>(exact - names.begin());
    const std::string key = column_key(map.column);
    std::size_t found = kNone;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (key.empty() || column_key(names[i]) != key) continue;
        if (found != kNone)
            throw UsageError("--map " + map.column + ": several columns have this name");
        found = i;
    }
    if (found != kNone) return found;
    std::string text = "--map " + map.column + ": the file has no such column; its columns are";
    for (const std::string& name : names) text.append(" \"").append(name).append("\"");
    throw UsageError(text);
}

// The routes of --map, by column. Throws UsageError for a target that is given twice.
std::map<std::size_t, ColumnRoute> routes_by_map(const std::vector<std::string>& names,
                                                 const std::vector<MapOption>& maps,
                                                 const rules::AttributeRegistry& registry) {
    std::map<std::size_t, ColumnRoute> routes;
    std::map<std::string, std::string> taken;
    for (const MapOption& map : maps) {
        const std::size_t at = find_column(map, names);
        ColumnRoute route = route_to(names[at], map.target);
        const bool is_known = route.kind == Kind::Attribute
                                  ? registry.find(route.attribute_key) != nullptr
                                  : route.kind != Kind::Ignored || map.target == "ignored";
        if (!is_known) refuse_target(map, registry);
        if (route.kind != Kind::Ignored && !taken.emplace(map.target, map.column).second) {
            throw UsageError("--map: two columns go to " + map.target);
        }
        if (!routes.emplace(at, std::move(route)).second) {
            throw UsageError("--map " + map.column + " is given twice");
        }
    }
    return routes;
}

Guesses guess_all(const std::vector<std::string>& names, const rules::AttributeRegistry& registry) {
    std::vector<std::string> keys;
    Guesses guesses;
    for (const std::string& name : names) {
        keys.push_back(column_key(name));
        guesses.push_back(guess_column(keys.back(), registry));
    }
    use_german_name(keys, guesses);
    return guesses;
}

// The column with the best name for each target that --map does not name.
std::map<std::string, std::size_t> winners(const Guesses& guesses,
                                           const std::map<std::size_t, ColumnRoute>& fixed) {
    std::map<std::string, std::size_t> best;
    for (std::size_t i = 0; i < guesses.size(); ++i) {
        if (!guesses[i] || fixed.contains(i)) continue;
        const bool is_taken = std::any_of(fixed.begin(), fixed.end(), [&](const auto& route) {
            return target_text(route.second) == guesses[i]->target;
        });
        if (is_taken) continue;
        const auto [place, is_first] = best.emplace(guesses[i]->target, i);
        if (!is_first && guesses[i]->rank < guesses[place->second]->rank) place->second = i;
    }
    return best;
}

}  // namespace

std::string column_key(std::string_view name) {
    std::string key;
    while (!name.empty()) {
        if (const Folding* folding = folding_at(name)) {
            key += folding->to;
            name.remove_prefix(folding->from.size());
            continue;
        }
        const char c = name.front();
        name.remove_prefix(1);
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             static_cast<unsigned char>(c) >= 0x80;
        if (is_upper) key += static_cast<char>(c - 'A' + 'a');
        if (is_kept) key += c;
    }
    return key;
}

std::vector<std::string> unique_column_names(const std::vector<std::string>& header) {
    std::vector<std::string> names;
    for (const std::string& cell : header) {
        std::string base(trimmed(cell));
        if (base.empty()) base = "column " + std::to_string(names.size() + 1);
        std::string name = base;
        for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n) {
            name = base + " (" + std::to_string(n) + ")";
        }
        names.push_back(std::move(name));
    }
    return names;
}

std::vector<ColumnRoute> route_columns(const std::vector<std::string>& names,
                                       const std::vector<MapOption>& maps,
                                       const rules::AttributeRegistry& registry) {
    const std::map<std::size_t, ColumnRoute> fixed = routes_by_map(names, maps, registry);
    const Guesses guesses = guess_all(names, registry);
    const std::map<std::string, std::size_t> best = winners(guesses, fixed);

    std::vector<ColumnRoute> routes;
    bool has_email = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto by_map = fixed.find(i);
        const bool has_won =
            guesses[i] && best.contains(guesses[i]->target) && best.at(guesses[i]->target) == i;
        routes.push_back(by_map != fixed.end()
                             ? by_map->second
                             : route_to(names[i], has_won ? guesses[i]->target : "ignored"));
        has_email = has_email || target_text(routes.back()) == "email";
    }
    if (!has_email) {
        std::string text =
            "no column looks like the email address; name it with --map 'COLUMN=email'. Columns:";
        for (const std::string& name : names) text.append(" \"").append(name).append("\"");
        throw UsageError(text);
    }
    return routes;
}

std::string disabled_attribute(std::string_view column, const rules::AttributeRegistry& registry) {
    const std::string key = column_key(column);
    if (key.empty()) return "";
    for (const rules::Attribute& attribute : registry.all()) {
        if (attribute.enabled) continue;
        const std::string target = std::string(kAttributePrefix) + attribute.key;
        const auto row = std::ranges::find(kColumnNames, target, &ColumnNames::target);
        const bool is_known = row != kColumnNames.end() && place_of(key, row->names) != kNone;
        if (is_known || key == column_key(attribute.key) || key == column_key(attribute.label)) {
            return attribute.key;
        }
    }
    return "";
}

std::string target_text(const ColumnRoute& route) {
    switch (route.kind) {
        case Kind::Ignored:
            return "ignored";
        case Kind::Core:
            return std::string(rules::kCoreFields[static_cast<std::size_t>(route.field)].name);
        case Kind::Attribute:
            return std::string(kAttributePrefix) + route.attribute_key;
        case Kind::AttributesJson:
            return "attributes";
    }
    return {};
}

rules::Mapping to_mapping(const std::vector<ColumnRoute>& routes) {
    rules::Mapping mapping;
    for (const ColumnRoute& route : routes) {
        rules::MappingColumn column;
        column.source_column = route.column;
        column.target = text_of(route.kind == Kind::Core        ? rules::MappingTarget::CoreField
                                : route.kind == Kind::Attribute ? rules::MappingTarget::Attribute
                                                                : rules::MappingTarget::Ignored);
        if (route.kind == Kind::Core) column.field_key = target_text(route);
        column.attribute_key = route.attribute_key;
        mapping.columns.push_back(std::move(column));
    }
    return mapping;
}

}  // namespace muster::client
