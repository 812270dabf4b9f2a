#include "base/settings.hpp"

#include "base/printable.hpp"
#include "base/regular_file.hpp"
#include "base/settings/table.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace muster {
namespace {

// A section that the file may have.
struct Section {
    std::string name;
    std::string_view provider;  // of [providers.<id>], else ""
    std::span<const Setting> rows;
};

// "file:line", a variable of the environment, or the file for a default.
struct Place {
    std::string text;
    int line = kLast;

    // Not of a line. Its faults follow those of the lines.
    static constexpr int kLast = std::numeric_limits<int>::max();
};

struct Given {
    std::string text;
    Place place;
};

// By section and key.
using FileValues = std::map<std::pair<std::string, std::string>, Given>;

// A fault of one line or setting.
struct Refusal : std::exception {
    Refusal(Place where, std::string which, std::string why)
        : place(std::move(where)), setting(std::move(which)), reason(std::move(why)) {}
    Place place;
    std::string setting;
    std::string reason;
};

[[noreturn]] void refuse(const Place& place, const std::string& setting,
                         const std::string& reason) {
    throw Refusal(place, setting, reason);
}

// Collects the faults of a file and of the environment.
class Refusals {
  public:
    // Runs `check`, and keeps its Refusal.
    template <class Check>
    void collect(const Check& check) {
        try {
            check();
        } catch (const Refusal& refusal) {
            list_.push_back(refusal);
        }
    }
    // Throws SettingsError unless there is none.
    void report() {
        if (list_.empty()) return;
        std::ranges::stable_sort(list_, {}, [](const Refusal& one) { return one.place.line; });
        std::vector<SettingFault> faults;
        faults.reserve(list_.size());
        for (const Refusal& one : list_) {
            faults.push_back(
                {printable(one.place.text), printable(one.setting), printable(one.reason)});
        }
        throw SettingsError(std::move(faults));
    }

  private:
    std::vector<Refusal> list_;
};

std::string setting_name(const Section& section, const Setting& row) {
    return section.name + "." + std::string(row.key);
}

std::vector<Section> sections_of(std::span<const std::string_view> providers) {
    std::vector<Section> sections;
    for (std::span rest = settings_table(); !rest.empty();) {
        const std::string_view name = rest.front().section;
        const auto end =
            std::ranges::find_if(rest, [&](const Setting& row) { return row.section != name; });
        const auto rows = rest.first(static_cast<std::size_t>(end - rest.begin()));
        rest = rest.subspan(rows.size());
        if (name != kProviderSection) {
            sections.push_back({std::string(name), "", rows});
            continue;
        }
        for (const std::string_view id : providers) {
            sections.push_back({"providers." + std::string(id), id, rows});
        }
    }
    return sections;
}

// ---------------------------------------------------------------------------- reading

// The known word that an unknown one of the file probably is a misspelling of. nullopt: the word
// may be a part of a secret of several lines, so it must not be shown.
std::optional<std::string_view> meant_by(std::string_view word,
                                         const std::vector<std::string_view>& known) {
    const bool is_name =
        std::ranges::all_of(word, [](char c) { return is_letter_or_digit(c) || c == '_'; });
    return is_name ? nearest(word, known) : std::nullopt;
}

// Of a name that begins as a provider's section, only the rest is compared.
const Section& find_section(std::span<const Section> sections, std::string_view name,
                            const Place& place) {
    constexpr std::string_view kProviders = "providers.";
    const auto found = std::ranges::find(sections, name, &Section::name);
    if (found != sections.end()) return *found;
    const bool is_provider = name.starts_with(kProviders);
    const std::string prefix(is_provider ? kProviders : "");
    std::vector<std::string_view> known;
    for (const Section& section : sections) {
        if (section.provider.empty() == is_provider) continue;
        known.push_back(is_provider ? section.provider : std::string_view(section.name));
    }
    if (!is_provider) known.push_back(kProviderSection);
    const auto in_brackets = [&](std::string_view one) {
        return "[" + prefix + std::string(one) + "]";
    };
    if (const auto meant = meant_by(name.substr(prefix.size()), known)) {
        refuse(place, "",
               "unknown section [" + std::string(name) + "]; did you mean " + in_brackets(*meant) +
                   "?");
    }
    std::vector<std::string> names;
    std::ranges::transform(known, std::back_inserter(names), in_brackets);
    refuse(place, "",
           "unknown section; use " +
               listed(std::vector<std::string_view>(names.begin(), names.end())));
}

std::vector<std::string_view> keys_of(std::span<const Setting> rows) {
    std::vector<std::string_view> keys;
    std::ranges::transform(rows, std::back_inserter(keys), &Setting::key);
    return keys;
}

[[noreturn]] void refuse_before_sections(const std::string& key, const Place& place) {
    const bool is_shown = meant_by(key, keys_of(settings_table())).has_value();
    refuse(place, is_shown ? key : "",
           (is_shown ? key : "a key") + " is before the first [section]; move it into its section");
}

[[noreturn]] void refuse_unknown_key(const Section& section, const std::string& key,
                                     const Place& place) {
    const std::vector<std::string_view> known = keys_of(section.rows);
    const std::string in_section = " in [" + section.name + "]; ";
    if (const auto meant = meant_by(key, known)) {
        refuse(place, section.name + "." + key,
               "unknown key " + key + in_section + "did you mean " + std::string(*meant) + "?");
    }
    refuse(place, "", "unknown key" + in_section + "use " + listed(known));
}

void read_key(FileValues& to, const Section& section, std::string_view text, const Place& place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.front() == '[') {
        refuse(place, "", "neither [section] nor key = value");
    }
    const std::string key(trimmed_ascii(text.substr(0, equals)));
    if (section.name.empty()) refuse_before_sections(key, place);
    if (std::ranges::find(section.rows, key, &Setting::key) == section.rows.end()) {
        refuse_unknown_key(section, key, place);
    }
    Given given{std::string(trimmed_ascii(text.substr(equals + 1))), place};
    const auto [first, is_new] = to.try_emplace({section.name, key}, std::move(given));
    if (is_new) return;
    const std::string name = section.name + "." + key;
    refuse(
        place, name,
        name + " is given twice; line " + std::to_string(first->second.place.line) + " has it too");
}

// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    return split(text, '\n');
}

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

// Also from a pipe. Throws Refusal if it cannot be read.
std::string file_text(const std::string& path) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    std::string text(kMostFileBytes + 1, '\0');
    if (in.is_open()) in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.is_open() || in.bad()) {
        refuse({path}, "",
               "cannot be read: " + reading_problem(errno) +
                   "; --config or MUSTER_CONFIG names another file");
    }
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() <= kMostFileBytes) return text;
    refuse({path}, "",
           "has more than " + std::to_string(kMostFileBytes) +
               " bytes; name the configuration of Muster");
}

// After an unknown section, its keys have no fault of their own.
FileValues read_file(const std::string& path, std::span<const Section> sections,
                     Refusals& refusals) {
    FileValues values;
    std::string text;
    refusals.collect([&] { text = file_text(path); });
    refusals.report();
    const Section before_sections;
    const Section* section = &before_sections;
    int number = 0;
    for (const std::string_view line : lines_of(text)) {
        const Place place{path + ":" + std::to_string(++number), number};
        const std::string_view words = trimmed_ascii(line);
        if (words.empty() || words.front() == '#' || words.front() == ';') continue;
        const bool is_section = words.front() == '[';
        if (is_section) section = nullptr;
        refusals.collect([&] {
            if (is_section && words.back() == ']') {
                section = &find_section(sections, words.substr(1, words.size() - 2), place);
            } else if (is_section || section != nullptr) {
                read_key(values, section ? *section : before_sections, words, place);
            }
        });
    }
    return values;
}

std::string environment_name(const Section& section, const Setting& row) {
    std::string name = "MUSTER_" + section.name + "_" + std::string(row.key);
    std::ranges::replace(name, '.', '_');
    ascii_upper(name);
    return name;
}

// ---------------------------------------------------------------------------- checking

bool is_number(const Setting& row) {
    return row.range.most > 0;
}

// "" for a key that takes any value.
std::string allowed_values(const Setting& row) {
    if (is_number(row)) {
        return "a number from " + std::to_string(row.range.least) + " to " +
               std::to_string(row.range.most);
    }
    return row.choices.empty() ? std::string(row.expects) : listed(split(row.choices, ' '));
}

bool accepts(const Setting& row, std::string_view text) {
    if (is_number(row)) {
        const auto number = parse_number<int>(text);
        return number && *number >= row.range.least && *number <= row.range.most;
    }
    if (!row.choices.empty()) return std::ranges::count(split(row.choices, ' '), text) > 0;
    return row.check == nullptr || row.check(text);
}

// "scheme://name:password@host" and "name:password@host" would show their password in an error
// message.
bool may_be_shown(std::string_view text) {
    const std::size_t at = text.find('@');
    return at == std::string_view::npos || text.substr(0, at).find(':') == std::string_view::npos;
}

// A long text without a folder may be a key or a password in the place of its path. So may a text
// that is longer than paths.
bool may_be_secret(std::string_view path) {
    constexpr std::size_t kShortestKey = 32;
    return path.size() >= (path.starts_with('/') ? std::size_t{PATH_MAX} : kShortestKey);
}

constexpr std::size_t kMostSecretBytes = std::size_t{64} << 10U;

std::string secret_file(const std::string& path, const std::string& name, const Place& place) {
    if (path.empty()) refuse(place, name, name + " names no file; use file:/path");
    const RegularFile file = read_regular_file(path, kMostSecretBytes + 1);
    const std::string problem =
        file.problem.empty() && file.bytes.empty() ? "it is empty" : file.problem;
    if (!problem.empty()) {
        refuse(place, name,
               may_be_secret(path)
                   ? name + " names a file that cannot be read: " + problem +
                         "; write the secret into a file and use file:/path"
                   : name + " names " + path + ", which cannot be read: " + problem);
    }
    if (file.bytes.size() > kMostSecretBytes) {
        refuse(place, name,
               name + " names a file of more than " + std::to_string(kMostSecretBytes) +
                   " bytes; use a file with only the secret");
    }
    return file.bytes;
}

std::string secret_of(const Setting& row, const std::string& name, const Given& given) {
    constexpr std::string_view kFile = "file:";
    const bool is_marked = given.text.starts_with(kFile);
    if (!is_marked && row.source != Setting::Source::File) {
        return std::string(trimmed_ascii(given.text));
    }
    const std::string bytes =
        secret_file(given.text.substr(is_marked ? kFile.size() : 0), name, given.place);
    return row.source == Setting::Source::File ? bytes : std::string(trimmed_ascii(bytes));
}

struct Store {
    const std::string& text;

    void operator()(int* to) const { *to = parse_number<int>(text).value(); }
    void operator()(bool* to) const { *to = text == "yes"; }
    void operator()(std::string* to) const { *to = text; }
    void operator()(Secret* to) const { *to = Secret(text); }
};

void assign(Settings& settings, const Section& section, const Setting& row, const Given& given) {
    const SettingValue target = row.value(settings, section.provider);
    const bool is_secret = std::holds_alternative<Secret*>(target);
    const std::string name = setting_name(section, row);
    const std::string text = is_secret ? secret_of(row, name, given) : given.text;
    const std::string received =
        !is_secret && may_be_shown(text) ? " is " + in_quotes(text) : " is not valid";
    if (!accepts(row, text))
        refuse(given.place, name, name + received + "; use " + allowed_values(row));
    if (!is_secret && printable(text) != text) {
        refuse(given.place, name,
               name + received + "; use UTF-8 without control characters and invisible ones");
    }
    std::visit(Store{text}, target);
}

// A second group of workers cannot listen on the socket of the first.
// A path with a fault of its own is empty.
void require_different_sockets(const ServerSettings& server, const Place& place) {
    struct Socket {
        std::string name;
        std::string path;
    };
    const std::array sockets = {Socket{"server.socket", server.socket},
                                Socket{"server.collector_socket", server.collector_socket},
                                Socket{"server.reader_socket", server.reader_socket}};
    for (const auto* one = sockets.begin(); one != sockets.end(); ++one) {
        const auto* const same = std::find_if(
            one + 1, sockets.end(), [one](const Socket& other) { return other.path == one->path; });
        if (same == sockets.end() || one->path.empty()) continue;
        refuse(place, one->name,
               one->name + " and " + same->name + " are both \"" + one->path +
                   "\"; give each a path of its own");
    }
}

// ---------------------------------------------------------------------------- printing

std::string allowed_sentence(const Setting& row) {
    const std::string allowed = allowed_values(row);
    return allowed.empty() ? "" : "Allowed: " + allowed + ".";
}

std::string shipped_row(const Setting& row) {
    std::string text = "# " + std::string(row.meaning);
    if (const std::string allowed = allowed_sentence(row); !allowed.empty()) text += " " + allowed;
    text.append("\n#").append(row.key).append(" =");
    if (!row.fallback.empty()) text.append(" ").append(row.fallback);
    return text + "\n";
}

std::string manual_row(const Setting& row) {
    std::string text = ".TP\n.B " + std::string(row.key) + "\n" + std::string(row.meaning) + "\n";
    if (const std::string allowed = allowed_sentence(row); !allowed.empty()) text += allowed + "\n";
    const std::string fallback(row.fallback);
    return text + (fallback.empty() ? "Empty by default.\n" : "Default: " + fallback + ".\n");
}

std::string manual_section(std::string_view name, std::span<const std::string_view> providers) {
    std::string text = ".SS [" + std::string(name) + "]\n";
    if (name != kProviderSection) return text;
    text += "A section for each provider of external data that admins may connect. The ids:\n";
    for (const std::string_view id : providers) {
        text.append(id).append(id == providers.back() ? ".\n" : ",\n");
    }
    return text;
}

std::string one_line(std::span<const SettingFault> faults) {
    const auto shown = faults.first(std::min(faults.size(), SettingsError::kMost));
    std::string text;
    for (const SettingFault& fault : shown) text += (text.empty() ? "" : "; ") + fault.text();
    if (shown.size() == faults.size()) return text;
    return text + "; and " + std::to_string(faults.size() - shown.size()) + " more";
}

}  // namespace

SettingsError::SettingsError(std::vector<SettingFault> all)
    : std::runtime_error(one_line(all)), faults(std::move(all)) {
    if (faults.size() <= kMost) return;
    left_out = faults.size() - kMost;
    faults.resize(kMost);
}

Settings load_settings(const std::string& path, std::span<const std::string_view> providers,
                       KeyFiles keys) {
    const std::vector<Section> sections = sections_of(providers);
    Refusals refusals;
    const FileValues file = read_file(path, sections, refusals);
    const auto given_value = [&](const Section& section, const Setting& row) -> Given {
        const std::string name = environment_name(section, row);
        if (const char* value = std::getenv(name.c_str())) return {value, {name}};
        const auto found = file.find({section.name, std::string(row.key)});
        return found == file.end() ? Given{std::string(row.fallback), {path}} : found->second;
    };
    Settings settings;
    for (const Section& section : sections) {
        for (const Setting& row : section.rows) {
            const Given given = given_value(section, row);
            if (given.text.empty() && row.fallback.empty()) continue;
            if (row.source == Setting::Source::File && keys == KeyFiles::Ignore) continue;
            refusals.collect([&] { assign(settings, section, row, given); });
        }
    }
    refusals.collect([&] { require_different_sockets(settings.server, {path}); });
    refusals.report();
    return settings;
}

std::string shipped_settings(std::span<const std::string_view> providers) {
    std::string text =
        "# Configuration of Muster: see muster.conf(5). Printed by `musterd --print-config`.\n"
        "# Each key is shown with its default. An unknown key stops the start.\n"
        "# The environment overrides the file: MUSTER_<SECTION>_<KEY>.\n";
    for (const Section& section : sections_of(providers)) {
        const bool is_of_provider = !section.provider.empty();
        const bool shows_rows = !is_of_provider || section.provider == providers.front();
        if (shows_rows) text += "\n";
        if (shows_rows && is_of_provider) {
            text +=
                "# Providers of external data: each of these sections takes the keys of the "
                "first.\n";
        }
        text += "[" + section.name + "]\n";
        if (!shows_rows) continue;
        for (const Setting& row : section.rows) text += shipped_row(row);
    }
    return text;
}

std::string settings_manual(std::span<const std::string_view> providers) {
    std::string text;
    std::string_view section;
    for (const Setting& row : settings_table()) {
        if (row.section != section) text += manual_section(row.section, providers);
        section = row.section;
        text += manual_row(row);
    }
    return text;
}

}  // namespace muster
