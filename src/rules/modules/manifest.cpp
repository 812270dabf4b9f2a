// One walk over the manifest both checks it and extracts the data for later use, so that a
// published manifest is always used as it was checked.
#include "rules/modules/manifest.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "json/json_body.hpp"
#include "rules/event_types.hpp"
#include "rules/modules/manifest_faults.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace muster::rules {
namespace {

using json::JsonIn;
using json::JsonObject;
using json::JsonParser;

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestDescription = 2000;
constexpr std::size_t kMostTypes = 100;
constexpr std::size_t kMostPermissions = 100;
constexpr std::size_t kLongestPermission = 128;
constexpr std::size_t kMostProperties = 100;
constexpr std::size_t kLongestProperty = 64;
constexpr std::size_t kMostChoices = 100;
constexpr std::size_t kLongestChoice = 255;
constexpr std::size_t kShownKey = 64;

enum class PropertyType : std::uint8_t { String, Number, Boolean };
constexpr std::array<std::string_view, 3> kTypes = {"string", "number", "boolean"};

struct Property {
    std::optional<PropertyType> type;  // nullopt: the definition has a fault
    bool is_required = false;
    bool is_secret = false;
    std::set<std::string> choices;  // as returned by comparable(); empty: any value
};

struct Manifest {
    std::vector<std::string> emits;
    std::map<std::string, Property, std::less<>> config;
};

bool is_lower_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// ^[a-z][a-z0-9_]{0,63}$
bool is_property_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestProperty && name[0] >= 'a' && name[0] <= 'z' &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_lower_or_digit(c) || c == '_'; });
}

// Shows the caller's key, truncated to kShownKey bytes.
std::string below(const std::string& path, std::string_view key) {
    std::string_view shown = key.substr(0, kShownKey);
    while (!is_utf8(shown)) shown.remove_suffix(1);
    return path + "." + std::string(shown);
}

std::string at(const std::string& path, std::size_t index) {
    return path + "[" + std::to_string(index) + "]";
}

std::optional<PropertyType> type_of(const JsonIn& value) {
    if (value.is_string()) return PropertyType::String;
    if (value.is_number()) return PropertyType::Number;
    if (value.is_boolean()) return PropertyType::Boolean;
    return std::nullopt;
}

std::string value_json(const JsonIn& value) {
    std::string json;
    append_value(json, value);
    return json;
}

// The choices as texts: a string without its quotes.
std::vector<std::string> choices_of(const Property& property) {
    std::vector<std::string> texts;
    for (const std::string& choice : property.choices) {
        const bool is_quoted = choice.starts_with('"');
        texts.push_back(is_quoted ? choice.substr(1, choice.size() - 2) : choice);
    }
    return texts;
}

// A text that is equal for equal values: 1 and 1.0 are the same number.
std::string comparable(const JsonIn& value) {
    const auto whole = json::whole_number(value);
    return whole ? std::to_string(*whole) : value_json(value);
}

// ---------------------------------------------------------------------------- the manifest

class ManifestReader {
  public:
    // `slug` is nullopt for a published manifest, whose types are already valid.
    ManifestReader(std::optional<std::string_view> slug, Faults& faults)
        : slug_(slug), faults_(faults) {}

    Manifest read(std::string_view json) {
        JsonParser parser;
        const auto manifest = parser.parse_object(json);
        if (!manifest) {
            faults_.add("manifest", FieldCode::WrongType);
            return {};
        }
        bool has_name = false;
        members("manifest", *manifest,
                {"name", "description", "events", "config_schema", "permissions"},
                [&](std::string_view key, const JsonIn& value) {
                    has_name = has_name || key == "name";
                    return member(key, value);
                });
        if (!has_name) faults_.add("manifest.name", FieldCode::Required);
        return std::move(manifest_);
    }

  private:
    // `take` handles a member, or returns false for a key that is not `allowed`. A stored text may
    // contain a key twice.
    template <class Take>
    void members(const std::string& path, const JsonObject& object,
                 const std::vector<std::string>& allowed, const Take& take) {
        std::set<std::string_view> seen;
        for (const auto& [key, value] : object) {
            if (faults_.truncated()) return;
            if (!seen.insert(key).second) {
                faults_.add(below(path, key), FieldCode::Duplicate);
            } else if (!take(key, value)) {
                faults_.add(below(path, key), FieldCode::UnknownField, {.allowed = allowed});
            }
        }
    }

    void wrong_type(const std::string& path, const JsonIn& value, std::string_view expected) {
        faults_.add(path, FieldCode::WrongType, wrong_type_message(value, expected));
    }

    bool member(std::string_view key, const JsonIn& value) {
        if (key == "name") {
            text("manifest.name", value, 1, kLongestName);
        } else if (key == "description") {
            text("manifest.description", value, 0, kLongestDescription);
        } else if (key == "events") {
            events("manifest.events", value);
        } else if (key == "config_schema") {
            config_schema("manifest.config_schema", value);
        } else if (key == "permissions") {
            distinct("manifest.permissions", value, kMostPermissions,
                     [&](const std::string& path, const JsonIn& entry) {
                         text(path, entry, 1, kLongestPermission);
                     });
        } else {
            return false;
        }
        return true;
    }

    void text(const std::string& path, const JsonIn& value, std::size_t least, std::size_t most) {
        const auto text = value.string();
        if (!text) return wrong_type(path, value, "a string");
        if (utf8_length(trimmed(*text)) < least) {
            return faults_.add(path, FieldCode::Required,
                               "is empty; use 1 to " + std::to_string(most) + " characters");
        }
        if (is_longer_than(*text, most)) {
            return faults_.add(path, FieldCode::TooLong, longest(most));
        }
        // A description may contain line breaks.
        if (least > 0 && has_control(*text)) {
            faults_.add(path, FieldCode::InvalidValue,
                        "is " + shown_value(value) + "; use a text without control characters");
        }
    }

    // Reads an array of distinct values; `take` checks each of them.
    template <class Take>
    void distinct(const std::string& path, const JsonIn& value, std::size_t most,
                  const Take& take) {
        const auto entries = value.array();
        if (!entries) return wrong_type(path, value, "an array");
        if (entries->size() > most) {
            return faults_.add(path, FieldCode::TooLong,
                               "has " + std::to_string(entries->size()) +
                                   " entries; the maximum is " + std::to_string(most),
                               longest(most));
        }
        std::set<std::string> seen;
        std::size_t index = 0;
        for (const JsonIn& entry : *entries) {
            const std::string place = at(path, index++);
            if (!seen.insert(comparable(entry)).second) {
                faults_.add(place, FieldCode::Duplicate,
                            "is " + shown_value(entry) + ", which is given twice");
            } else {
                take(place, entry);
            }
        }
    }

    void events(const std::string& path, const JsonIn& value) {
        const auto object = value.object();
        if (!object) return wrong_type(path, value, "an object");
        members(
            path, *object, {"emits", "subscribes"}, [&](std::string_view key, const JsonIn& types) {
                if (key == "emits") {
                    distinct(path + ".emits", types, kMostTypes,
                             [&](const auto& place, const JsonIn& type) { emits(place, type); });
                } else if (key == "subscribes") {
                    distinct(
                        path + ".subscribes", types, kMostTypes,
                        [&](const auto& place, const JsonIn& type) { subscribes(place, type); });
                } else {
                    return false;
                }
                return true;
            });
    }

    void emits(const std::string& path, const JsonIn& value) {
        const auto type = value.string();
        if (!type) return wrong_type(path, value, "a string");
        if (slug_ && !can_emit(*slug_, *type)) {
            return faults_.add(path, FieldCode::InvalidValue, emits_message(*slug_, value));
        }
        manifest_.emits.emplace_back(*type);
    }

    void subscribes(const std::string& path, const JsonIn& value) {
        const auto type = value.string();
        if (!type) return wrong_type(path, value, "a string");
        if (!can_subscribe_to(*type)) {
            faults_.add(path, FieldCode::InvalidValue, subscribes_message(value));
        }
    }

    void config_schema(const std::string& path, const JsonIn& value) {
        const auto object = value.object();
        if (!object) return wrong_type(path, value, "an object");
        if (object->size() > kMostProperties) {
            return faults_.add(path, FieldCode::TooLong,
                               "has " + std::to_string(object->size()) +
                                   " properties; the maximum is " + std::to_string(kMostProperties),
                               longest(kMostProperties));
        }
        members(path, *object, {}, [&](std::string_view name, const JsonIn& definition) {
            const std::string place = below(path, name);
            if (!is_property_name(name)) {
                faults_.add(place, FieldCode::InvalidValue,
                            "is not a name; use a letter of a-z, then up to 63 of a-z, 0-9 and _");
            }
            manifest_.config[std::string(name)] = property(place, definition);
            return true;
        });
    }

    Property property(const std::string& path, const JsonIn& definition) {
        Property property;
        const auto object = definition.object();
        if (!object) {
            // The value is not shown: an author may have written the secret itself.
            faults_.add(path, FieldCode::WrongType,
                        R"(must be an object such as {"type": "string"})");
            return property;
        }
        std::optional<JsonIn> type;
        std::optional<JsonIn> choices;
        members(path, *object, {"type", "required", "secret", "enum"},
                [&](std::string_view key, const JsonIn& value) {
                    if (key == "type") {
                        type = value;
                    } else if (key == "required") {
                        flag(path + ".required", value, property.is_required);
                    } else if (key == "secret") {
                        flag(path + ".secret", value, property.is_secret);
                    } else if (key == "enum") {
                        choices = value;
                    } else {
                        return false;
                    }
                    return true;
                });
        property.type = property_type(path + ".type", type);
        if (property.is_secret && property.type && property.type != PropertyType::String) {
            faults_.add(path + ".secret", FieldCode::InvalidValue,
                        R"(is true; only a property of type "string" can be secret)");
        }
        if (choices && property.is_secret) {
            // A config shows the secret as "***". With an enum, a reader could guess it.
            faults_.add(path + ".enum", FieldCode::InvalidValue,
                        "is not allowed for a secret; remove enum or secret");
        } else if (choices) {
            read_choices(path + ".enum", *choices, property);
        }
        return property;
    }

    void flag(const std::string& path, const JsonIn& value, bool& to) {
        const auto flag = value.boolean();
        // The value is not shown: an author may have written the secret itself.
        if (!flag) return faults_.add(path, FieldCode::WrongType, "must be true or false");
        to = *flag;
    }

    std::optional<PropertyType> property_type(const std::string& path,
                                              const std::optional<JsonIn>& value) {
        const auto text = value ? value->string() : std::nullopt;
        if (!value) {
            faults_.add(path, FieldCode::Required, "is required; use string, number or boolean");
        } else if (!text) {
            wrong_type(path, *value, R"("string", "number" or "boolean")");
        } else {
            const auto* const found = std::ranges::find(kTypes, *text);
            if (found != kTypes.end()) return static_cast<PropertyType>(found - kTypes.begin());
            faults_.add(path, FieldCode::InvalidChoice,
                        "is " + shown_value(*value) + "; use string, number or boolean",
                        {.allowed = {kTypes.begin(), kTypes.end()}});
        }
        return std::nullopt;
    }

    void read_choices(const std::string& path, const JsonIn& value, Property& property) {
        distinct(path, value, kMostChoices, [&](const std::string& place, const JsonIn& choice) {
            if (!property.type) return;  // already reported
            const auto text = choice.string();
            if (type_of(choice) != property.type) {
                wrong_type(place, choice,
                           "a " + std::string(kTypes.at(static_cast<std::size_t>(*property.type))));
            } else if (text && is_longer_than(*text, kLongestChoice)) {
                faults_.add(place, FieldCode::TooLong, longest(kLongestChoice));
            } else if (text == kHiddenValue) {
                faults_.add(place, FieldCode::InvalidValue,
                            R"(is "***", which stands for a secret value; use another value)");
            } else {
                property.choices.insert(comparable(choice));
            }
        });
        const auto choices = value.array();
        if (choices && choices->size() == 0) {
            faults_.add(path, FieldCode::TooShort, "is empty; use 1 to 100 values");
        }
    }

    std::optional<std::string_view> slug_;
    Faults& faults_;
    Manifest manifest_;
};

Manifest published(std::string_view json) {
    Faults ignored;
    return ManifestReader(std::nullopt, ignored).read(json);
}

// ---------------------------------------------------------------------------- config

class ConfigCheck {
  public:
    ConfigCheck(const Manifest& manifest, const Secret& kept, Faults& faults)
        : manifest_(manifest),
          kept_(kept_parser_.parse_object(kept.reveal())),
          faults_(faults),
          shown_(shown_text_),
          secrets_(secrets_text_) {}

    Config run(std::string_view json) {
        JsonParser parser;
        const auto config = parser.parse_object(json);
        if (!config) {
            faults_.add("config", FieldCode::WrongType);
            return {};
        }
        shown_.begin_object();
        secrets_.begin_object();
        for (const auto& [name, value] : *config) {
            if (faults_.truncated()) break;
            const auto property = manifest_.config.find(name);
            if (property == manifest_.config.end()) {
                faults_.add(below("config", name), FieldCode::UnknownField);
            } else if (!seen_.insert(name).second) {
                faults_.add(below("config", name), FieldCode::Duplicate);
            } else {
                take(name, property->second, value);
            }
        }
        shown_.end_object();
        secrets_.end_object();
        for (const auto& [name, property] : manifest_.config) {
            if (property.is_required && !seen_.contains(name)) {
                faults_.add(below("config", name), FieldCode::Required);
            }
        }
        return {std::move(shown_text_), has_secrets_ ? Secret(std::move(secrets_text_)) : Secret()};
    }

  private:
    void take(std::string_view name, const Property& property, const JsonIn& value) {
        const std::string path = below("config", name);
        if (value.string() == kHiddenValue) {
            const auto stored = kept_ ? kept_->find(name) : std::nullopt;
            if (property.is_secret != stored.has_value()) return reject_hidden(path, property);
            if (stored) return write(path, name, property, *stored);
        }
        write(path, name, property, value);
    }

    // A stored secret remains hidden even if another version does not declare it secret.
    void reject_hidden(const std::string& path, const Property& property) {
        faults_.add(path, FieldCode::InvalidValue,
                    property.is_secret
                        ? "is \"***\", which keeps a stored value, but none is stored; send a value"
                        : "is a stored secret, which this version would show; send a new value");
    }

    void write(const std::string& path, std::string_view name, const Property& property,
               const JsonIn& value) {
        if (!type_of(value) || type_of(value) != property.type) {
            return faults_.add(path, FieldCode::WrongType);
        }
        if (!property.choices.empty() && !property.choices.contains(comparable(value))) {
            return faults_.add(path, FieldCode::InvalidChoice, {.allowed = choices_of(property)});
        }
        shown_.key(name);
        if (!property.is_secret) return shown_.raw(value_json(value));
        shown_.string(kHiddenValue);
        secrets_.key(name);
        secrets_.raw(value_json(value));
        has_secrets_ = true;
    }

    const Manifest& manifest_;
    JsonParser kept_parser_;
    std::optional<JsonObject> kept_;
    Faults& faults_;
    std::set<std::string_view> seen_;
    std::string shown_text_;
    std::string secrets_text_;
    JsonWriter shown_;
    JsonWriter secrets_;
    bool has_secrets_ = false;
};

}  // namespace

bool is_module_slug(std::string_view text) {
    return text.size() >= 2 && text.size() <= 63 && text[0] >= 'a' && text[0] <= 'z' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

void check_manifest(std::string_view slug, std::string_view manifest, Faults& faults) {
    (void)ManifestReader(slug, faults).read(manifest);
}

std::vector<std::string> emitted_types(std::string_view manifest) {
    return published(manifest).emits;
}

Config check_config(std::string_view manifest, std::string_view config, const Secret& kept,
                    Faults& faults) {
    return ConfigCheck(published(manifest), kept, faults).run(config);
}

Secret revealed_config(std::string_view shown, const Secret& secrets) {
    JsonParser shown_parser;
    JsonParser secret_parser;
    const auto values = shown_parser.parse_object(shown);
    const auto hidden = secret_parser.parse_object(secrets.reveal());
    std::string text;
    JsonWriter to(text);
    to.begin_object();
    if (values) {
        for (const auto& [name, value] : *values) {
            const auto secret = hidden ? hidden->find(name) : std::nullopt;
            to.key(name);
            to.raw(value_json(secret.value_or(value)));
        }
    }
    to.end_object();
    return Secret(std::move(text));
}

bool is_same_config(std::string_view shown, std::string_view other) {
    return json::is_same_json(shown, other);
}

}  // namespace muster::rules
