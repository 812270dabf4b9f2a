#include "client/column_guess.hpp"

#include "base/text.hpp"
#include "client/column_key.hpp"
#include "client/column_names.hpp"
#include "rules/attributes.hpp"
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

// A column that an export names by its target, because the key alone is also the name of a field.
std::optional<Guess> guess_by_target(const std::string& name,
                                     const rules::AttributeRegistry& registry) {
    if (!name.starts_with(kAttributePrefix)) return std::nullopt;
    if (!registry.find(name.substr(kAttributePrefix.size()))) return std::nullopt;
    return Guess{name, 0};
}

using Guesses = std::vector<std::optional<Guess>>;

// Lists name first and last name in a way that each name alone does not show: "Vorname" and "Name",
// "Voornaam" and "Naam", "Nom" alone for the whole name, "Nome" and "Cognome".
struct NamePair {
    std::string_view first;
    std::string_view last;
};
constexpr std::array kNamePairs = {NamePair{"vorname", "name"}, NamePair{"voornaam", "naam"},
                                   NamePair{"prenom", "name"}};

bool has_target(const Guesses& guesses, std::string_view target) {
    return std::ranges::any_of(guesses, [&](const auto& g) { return g && g->target == target; });
}

void use_name_pairs(const std::vector<std::string>& keys, Guesses& guesses) {
    for (const NamePair& pair : kNamePairs) {
        const bool has_first = std::ranges::find(keys, pair.first) != keys.end();
        const auto last = std::ranges::find(keys, pair.last);
        if (!has_first || has_target(guesses, "last_name") || last == keys.end()) continue;
        guesses[static_cast<std::size_t>(last - keys.begin())] = Guess{"last_name", 0};
    }
}

// "Name" next to "Last name", without a first name (MailerLite).
void use_name_as_first_name(const std::vector<std::string>& keys, Guesses& guesses) {
    if (has_target(guesses, "first_name") || !has_target(guesses, "last_name")) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == "name") guesses[i] = Guess{"first_name", 0};
    }
}

// "Nom" and "Nome" are a first or last name only next to the other one.
void use_whole_name(const std::vector<std::string>& keys, Guesses& guesses) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool is_alone =
            (keys[i] == "nom" && !has_target(guesses, "first_name")) ||
            ((keys[i] == "nome" || keys[i] == "nombre") && !has_target(guesses, "last_name"));
        if (is_alone && !has_target(guesses, "display_name")) guesses[i] = Guess{"display_name", 0};
    }
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

// The routes of --map, by column. Throws UsageError for a target that is given twice.
std::map<std::size_t, ColumnRoute> routes_by_map(const std::vector<std::string>& names,
                                                 const std::vector<MapOption>& maps,
                                                 const rules::AttributeRegistry& registry) {
    std::map<std::size_t, ColumnRoute> routes;
    std::map<std::string, std::string> taken;
    for (const MapOption& map : maps) {
        const std::size_t at = find_column("--map", map.column, names);
        ColumnRoute route = route_to(names[at], map.target);
        const bool is_known = route.kind == Kind::Attribute
                                  ? registry.find(route.attribute_key) != nullptr
                                  : route.kind != Kind::Ignored || map.target == "ignored";
        if (!is_known) refuse_target(map, registry);
        const bool is_used = route.kind != Kind::Ignored;
        if (!routes.emplace(at, std::move(route)).second) {
            throw UsageError("--map " + map.column + " is given twice");
        }
        const auto [other, is_free] = taken.emplace(map.target, map.column);
        if (is_used && !is_free) {
            throw UsageError("--map: the columns " + other->second + " and " + map.column +
                             " go to " + map.target + "; map one of them");
        }
    }
    return routes;
}

Guesses guess_all(const std::vector<std::string>& names, const rules::AttributeRegistry& registry) {
    std::vector<std::string> keys;
    Guesses guesses;
    for (const std::string& name : names) {
        keys.push_back(column_key(name));
        const auto by_target = guess_by_target(name, registry);
        guesses.push_back(by_target ? by_target : guess_column(keys.back(), registry));
    }
    use_name_pairs(keys, guesses);
    use_name_as_first_name(keys, guesses);
    use_whole_name(keys, guesses);
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

// A cell of the header as the API takes it: a question of a form may have several lines, and more
// characters than a name can have.
std::string column_name(std::string_view cell) {
    constexpr std::size_t kMostCharacters = 240;  // the API takes 255, and " (2)" may follow
    std::string name;
    for (std::string_view rest = trimmed(cell); !rest.empty();) {
        const std::size_t control = control_size(rest);
        const bool is_blank = control > 0 || rest.front() == ' ';
        if (!is_blank) name += rest.front();
        if (is_blank && !name.ends_with(' ')) name += ' ';
        rest.remove_prefix(std::max<std::size_t>(control, 1));
    }
    std::size_t end = 0;
    for (std::size_t count = 0; end < name.size(); ++end) {
        const bool begins_character = (static_cast<unsigned char>(name[end]) & 0xC0U) != 0x80U;
        if (begins_character && ++count > kMostCharacters) break;
    }
    name.resize(end);
    trim(name);  // as the API does
    return name;
}

}  // namespace

std::vector<std::string> unique_column_names(const std::vector<std::string>& header) {
    std::vector<std::string> names;
    for (const std::string& cell : header) {
        std::string base = column_name(cell);
        if (base.empty()) base = "column " + std::to_string(names.size() + 1);
        std::string name = base;
        for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n) {
            name = base + " (" + std::to_string(n) + ")";
        }
        names.push_back(std::move(name));
    }
    return names;
}

std::size_t find_column(std::string_view option, const std::string& column,
                        const std::vector<std::string>& names) {
    const auto exact = std::find(names.begin(), names.end(), column);
    if (exact != names.end()) return static_cast<std::size_t>(exact - names.begin());
    const std::string prefix = std::string(option) + " " + column + ": ";
    const std::string key = column_key(column);
    std::size_t found = kNone;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (key.empty() || column_key(names[i]) != key) continue;
        if (found != kNone) throw UsageError(prefix + "several columns have this name");
        found = i;
    }
    if (found != kNone) return found;
    std::string text = prefix + "the file has no such column; its columns are";
    for (const std::string& name : names) text.append(" \"").append(name).append("\"");
    throw UsageError(text);
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

ValueKind value_kind(const ColumnRoute& route, const rules::AttributeRegistry& registry) {
    if (route.kind == ColumnRoute::Kind::Core) {
        if (route.field == rules::CoreField::Dob) return ValueKind::Date;
        return route.field == rules::CoreField::Country ? ValueKind::Country : ValueKind::Text;
    }
    const rules::Attribute* attribute = registry.find(route.attribute_key);
    if (route.kind != ColumnRoute::Kind::Attribute || attribute == nullptr) return ValueKind::Text;
    switch (attribute->type) {
        case rules::AttributeType::Text:
            return ValueKind::Text;
        case rules::AttributeType::Number:
            return ValueKind::Number;
        case rules::AttributeType::Date:
            return ValueKind::Date;
        case rules::AttributeType::Boolean:
            return ValueKind::Boolean;
        case rules::AttributeType::SingleChoice:
            return ValueKind::Choice;
        case rules::AttributeType::MultiChoice:
            return ValueKind::Choices;
    }
    return ValueKind::Text;
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
