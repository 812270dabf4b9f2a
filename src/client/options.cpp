#include "client/options.hpp"

#include "base/crypto.hpp"
#include "base/ids.hpp"
#include "base/loopback.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace muster::client {
namespace {

using Setter = void (*)(Options&, std::string_view);

struct OptionEntry {
    std::string_view name;
    bool takes_value;
    Setter set;
};

MapOption parse_map(std::string_view text) {
    const auto equals = text.rfind('=');  // a column's name may hold one, a target does not
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
        throw UsageError("--map wants Column=field, Column=attribute:key or Column=ignored");
    }
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::size_t parse_chunk(std::string_view text) {
    const auto rows = parse_number<std::size_t>(text);
    if (!rows || *rows == 0 || *rows > Options::kMostRowsPerCall) {
        throw UsageError("--chunk wants a number of rows from 1 to " +
                         std::to_string(Options::kMostRowsPerCall));
    }
    return *rows;
}

char parse_separator(std::string_view text) {
    if (text == "tab" || text == "\\t") return '\t';
    if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r") {
        throw UsageError("--separator wants one character, or \"tab\"");
    }
    return text.front();
}

std::string parse_job(std::string_view text) {
    if (!Uuid::parse(text)) throw UsageError("--resume wants the id of an import job");
    return std::string(text);
}

constexpr std::array kOptions = {
    OptionEntry{"--url", true, [](Options& o, std::string_view v) { o.url = v; }},
    OptionEntry{"--key-file", true, [](Options& o, std::string_view v) { o.key_file = v; }},
    OptionEntry{"--ca-file", true, [](Options& o, std::string_view v) { o.ca_file = v; }},
    OptionEntry{"--errors", true, [](Options& o, std::string_view v) { o.errors = v; }},
    OptionEntry{"--resume", true, [](Options& o, std::string_view v) { o.resume = parse_job(v); }},
    OptionEntry{"--map", true,
                [](Options& o, std::string_view v) { o.maps.push_back(parse_map(v)); }},
    OptionEntry{"--chunk", true, [](Options& o, std::string_view v) { o.chunk = parse_chunk(v); }},
    OptionEntry{"--separator", true,
                [](Options& o, std::string_view v) { o.separator = parse_separator(v); }},
    OptionEntry{"--dry-run", false, [](Options& o, std::string_view) { o.dry_run = true; }},
    OptionEntry{"--commit", false, [](Options& o, std::string_view) { o.commit = true; }},
    OptionEntry{"--quiet", false, [](Options& o, std::string_view) { o.quiet = true; }},
    OptionEntry{"--json", false, [](Options& o, std::string_view) { o.json = true; }},
    OptionEntry{"--help", false, [](Options& o, std::string_view) { o.help = true; }},
    OptionEntry{"--version", false, [](Options& o, std::string_view) { o.version = true; }},
};

const OptionEntry& find_option(std::string_view name) {
    if (name == "--key" || name == "--api-key" || name == "--token") {
        throw UsageError(
            "a key on the command line is seen by every user of this machine: "
            "put it into a file and use --key-file, or into the environment as MUSTER_API_KEY");
    }
    const auto* found = std::find_if(kOptions.begin(), kOptions.end(),
                                     [&](const OptionEntry& entry) { return entry.name == name; });
    if (found == kOptions.end()) throw UsageError("unknown option " + std::string(name));
    return *found;
}

void take_file(Options& options, const std::string& argument) {
    if (!options.file.empty()) throw UsageError("more than one FILE: " + argument);
    if (argument == "-") throw UsageError("FILE cannot be standard input: the file is read twice");
    if (argument.empty()) throw UsageError("FILE is empty");
    options.file = argument;
}

// Takes arguments[at] and, where it has one, its value; gives the place of the next one.
std::size_t take_option(Options& options, const std::vector<std::string>& arguments,
                        std::size_t at) {
    const std::string_view whole = arguments[at];
    const auto equals = whole.find('=');
    const OptionEntry& entry = find_option(whole.substr(0, equals));
    if (!entry.takes_value) {
        if (equals != std::string_view::npos)
            throw UsageError(std::string(entry.name) + " takes no value");
        entry.set(options, {});
        return at + 1;
    }
    if (equals == std::string_view::npos && at + 1 == arguments.size()) {
        throw UsageError(std::string(entry.name) + " wants a value");
    }
    const std::string_view value = equals == std::string_view::npos
                                       ? std::string_view(arguments[at + 1])
                                       : whole.substr(equals + 1);
    if (value.empty()) throw UsageError(std::string(entry.name) + " wants a value");
    entry.set(options, value);
    return at + (equals == std::string_view::npos ? 2 : 1);
}

void check_url(std::string& url) {
    while (url.ends_with('/')) url.pop_back();
    const bool tls = url.starts_with("https://");
    if (!tls && !url.starts_with("http://")) throw UsageError("--url wants https://host[:port]");
    const std::string_view rest = std::string_view(url).substr(tls ? 8 : 7);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    if (authority.empty() || rest.find_first_of("?# ") != std::string_view::npos) {
        throw UsageError("--url wants https://host[:port] without a query");
    }
    if (authority.find('@') != std::string_view::npos)
        throw UsageError("--url may not hold a name or a password");
    if (!tls && !is_loopback(authority)) {
        throw UsageError(
            "--url must be https: over plain http the key and the members could be read on the "
            "way");
    }
}

// members.csv: members-errors.csv
std::string default_errors_path(std::string file) {
    constexpr std::string_view kEnding = ".csv";
    const bool has_ending =
        file.size() > kEnding.size() &&
        equal_ignoring_case(std::string_view(file).substr(file.size() - kEnding.size()), kEnding);
    if (has_ending) file.resize(file.size() - kEnding.size());
    return file + "-errors.csv";
}

void check_together(Options& options) {
    if (options.file.empty()) throw UsageError("which FILE? See muster-import --help");
    if (options.url.empty()) throw UsageError("--url is missing. See muster-import --help");
    check_url(options.url);
    if (options.dry_run && options.commit)
        throw UsageError("--dry-run and --commit exclude each other");
    if (options.errors.empty()) options.errors = default_errors_path(options.file);
    if (options.errors == options.file)
        throw UsageError("--errors names the file that is to be imported");
}

void append_quoted(std::string& to, std::string_view text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
    to += ' ';
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
        to += text;
        return;
    }
    to += '\'';
    for (const char c : text) {
        if (c == '\'') {
            to += "'\\''";
        } else {
            to += c;
        }
    }
    to += '\'';
}

void check_key(std::string_view key) {
    const bool visible =
        std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (key.empty() || !visible)
        throw UsageError("the key must be one line of visible ASCII characters");
    for (const std::string_view other : {"mk_live_", "ek_live_", "ck_live_"}) {
        if (key.starts_with(other)) {
            throw UsageError("that is a key of another kind (" + std::string(other) +
                             "...): an import wants an organization's key (org_...)");
        }
    }
    if (key.starts_with("org_") && !is_credential("org_", key)) {
        throw UsageError("the key is mistyped or cut short: its check digits do not fit");
    }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    bool only_files = false;
    for (std::size_t at = 0; at < arguments.size();) {
        const std::string& argument = arguments[at];
        if (!only_files && argument == "--") {
            only_files = true;
            ++at;
        } else if (!only_files && argument.size() > 1 && argument.starts_with('-')) {
            at = take_option(options, arguments, at);
        } else {
            take_file(options, argument);
            ++at;
        }
    }
    if (!options.help && !options.version) check_together(options);
    return options;
}

Secret load_key(const Options& options, const char* environment_key) {
    std::string text;
    if (!options.key_file.empty()) {
        std::ifstream file(options.key_file, std::ios::binary);
        if (!std::getline(file, text))
            throw UsageError("the key file " + options.key_file + " cannot be read");
    } else if (environment_key != nullptr) {
        text = environment_key;
    } else {
        throw UsageError("no key: use --key-file FILE or set MUSTER_API_KEY");
    }
    Secret key{std::string(trimmed(text))};
    check_key(key.reveal());
    return key;
}

std::string resume_command(const Options& options, std::string_view job, std::string_view more) {
    std::string command = "muster-import";
    const auto add = [&command](std::string_view name, std::string_view value) {
        if (value.empty()) return;
        command.append(" ").append(name);
        append_quoted(command, value);
    };
    append_quoted(command, options.file);
    add("--url", options.url);
    add("--key-file", options.key_file);
    add("--ca-file", options.ca_file);
    for (const MapOption& map : options.maps) add("--map", map.column + "=" + map.target);
    if (options.separator != 0)
        add("--separator", options.separator == '\t' ? "tab" : std::string(1, options.separator));
    if (options.chunk != Options::kMostRowsPerCall) add("--chunk", std::to_string(options.chunk));
    if (options.errors != default_errors_path(options.file)) add("--errors", options.errors);
    add("--resume", job);
    return command.append(more);
}

std::string_view usage_text() {
    return R"(Usage: muster-import FILE.csv --url URL --key-file FILE [OPTION]...
Imports the members of a CSV file through the Muster partner API.

  --url URL          the service, for instance https://members.example.org
  --key-file FILE    the organization's key (org_...); or set MUSTER_API_KEY
  --map COLUMN=TO    TO is a field (email, first_name, ...), attribute:KEY or ignored;
                     overrides the guess for that column; may be repeated
  --dry-run          check everything on the server, import nothing, free the slot again
  --commit           import the valid rows without asking
  --errors OUT.csv   where rows that cannot be imported go (default: FILE-errors.csv)
  --resume JOB       go on with a job that was interrupted
  --chunk N          rows per request, 1 to 5000 (default 5000)
  --ca-file PEM      trust these certificate authorities
  --separator C      the file's separator (default: guessed from its first line)
  --quiet            only errors and the question before the import
  --json             one JSON document with the counts on standard output
  --help, --version

Exit status: 0 all rows are in, 1 usage or file, 2 some rows are not in,
3 the service failed or refused, 4 stopped before the import. See muster-import(1).
)";
}

}  // namespace muster::client
