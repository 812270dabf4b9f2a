#include "base/settings.hpp"

#include "base/printable.hpp"
#include "base/settings/table.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
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

// A value and its place: "file:line", a variable of the environment, or the file for a default.
struct Given {
    std::string text;
    std::string where;
};

// By section and key.
using FileValues = std::map<std::pair<std::string, std::string>, Given>;

[[noreturn]] void refuse(const std::string& where, const std::string& reason) {
    throw SettingsError(printable(where + ": " + reason));
}

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

// The reason why a file cannot be read, and what to do next. `error` is the errno.
std::string reading_problem(int error) {
    if (error == EISDIR) return "it is a folder";
    const std::string reason = std::generic_category().message(error);
    return error == EACCES ? reason + "; run the program as the system user muster (sudo -u muster)"
                           : reason;
}

const Section& find_section(std::span<const Section> sections, std::string_view name,
                            const std::string& where) {
    const auto found = std::ranges::find(sections, name, &Section::name);
    if (found == sections.end()) refuse(where, "unknown section [" + std::string(name) + "]");
    return *found;
}

void read_key(FileValues& to, const Section& section, std::string_view text,
              const std::string& where) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) refuse(where, "neither [section] nor key = value");
    const std::string key(trimmed(text.substr(0, equals)));
    if (section.name.empty()) {
        refuse(where, key + " is before the first [section]; move it into its section");
    }
    if (std::ranges::find(section.rows, key, &Setting::key) == section.rows.end()) {
        refuse(where, "unknown key " + key + " in [" + section.name + "]");
    }
    Given given{std::string(trimmed(text.substr(equals + 1))), where};
    if (!to.try_emplace({section.name, key}, std::move(given)).second) {
        refuse(where, section.name + "." + key + " is given twice");
    }
}

FileValues read_file(const std::string& path, std::span<const Section> sections) {
    errno = 0;
    std::ifstream in(path);
    in.peek();  // a folder opens, but cannot be read
    if (!in.is_open() || in.bad()) refuse(path, "cannot be read: " + reading_problem(errno));
    in.clear();
    FileValues values;
    const Section before_sections;
    const Section* section = &before_sections;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        const std::string where = path + ":" + std::to_string(number);
        if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#' || text.front() == ';') continue;
        if (text.front() == '[' && text.back() == ']') {
            section = &find_section(sections, text.substr(1, text.size() - 2), where);
        } else {
            read_key(values, *section, text, where);
        }
    }
    if (in.bad()) refuse(path, "cannot be read: " + reading_problem(errno));
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

// A long text without a folder may be a key or a password in the place of its path.
bool may_be_secret(std::string_view path) {
    constexpr std::size_t kShortestKey = 32;
    return path.size() >= kShortestKey && !path.starts_with('/');
}

constexpr std::size_t kMostSecretBytes = std::size_t{64} << 10U;

std::string secret_file(const std::string& path, const std::string& name, const Given& given) {
    if (path.empty()) refuse(given.where, name + " names no file; use file:/path");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    in.peek();
    if (!in.good()) {
        const std::string problem = in.eof() ? "it is empty" : reading_problem(errno);
        refuse(given.where, may_be_secret(path)
                                ? name + " names a file that cannot be read: " + problem +
                                      "; write the secret into a file and use file:/path"
                                : name + " names " + path + ", which cannot be read: " + problem);
    }
    std::string bytes(kMostSecretBytes + 1, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > kMostSecretBytes) {
        refuse(given.where, name + " names a file of more than " +
                                std::to_string(kMostSecretBytes) +
                                " bytes; use a file with only the secret");
    }
    return bytes;
}

std::string secret_of(const Setting& row, const std::string& name, const Given& given) {
    constexpr std::string_view kFile = "file:";
    const bool is_marked = given.text.starts_with(kFile);
    if (!is_marked && row.source != Setting::Source::File) {
        return std::string(trimmed(given.text));
    }
    const std::string bytes =
        secret_file(given.text.substr(is_marked ? kFile.size() : 0), name, given);
    return row.source == Setting::Source::File ? bytes : std::string(trimmed(bytes));
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
    if (!accepts(row, text)) {
        const bool is_shown = !is_secret && may_be_shown(text);
        refuse(given.where, name + (is_shown ? " is \"" + text + "\"" : " is not valid") +
                                "; use " + allowed_values(row));
    }
    std::visit(Store{text}, target);
}

// A second group of workers cannot listen on the socket of the first.
void require_different_sockets(const ServerSettings& server, const std::string& where) {
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
        if (same == sockets.end()) continue;
        refuse(where, one->name + " and " + same->name + " are both \"" + one->path +
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

}  // namespace

Settings load_settings(const std::string& path, std::span<const std::string_view> providers,
                       KeyFiles keys) {
    const std::vector<Section> sections = sections_of(providers);
    const FileValues file = read_file(path, sections);
    const auto given_value = [&](const Section& section, const Setting& row) -> Given {
        const std::string name = environment_name(section, row);
        if (const char* value = std::getenv(name.c_str())) return {value, name};
        const auto found = file.find({section.name, std::string(row.key)});
        return found == file.end() ? Given{std::string(row.fallback), path} : found->second;
    };
    Settings settings;
    for (const Section& section : sections) {
        for (const Setting& row : section.rows) {
            const Given given = given_value(section, row);
            if (given.text.empty() && row.fallback.empty()) continue;
            if (row.source == Setting::Source::File && keys == KeyFiles::Ignore) continue;
            assign(settings, section, row, given);
        }
    }
    require_different_sockets(settings.server, path);
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
