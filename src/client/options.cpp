#include "client/options.hpp"

#include "base/crypto.hpp"
#include "base/ids.hpp"
#include "base/loopback.hpp"
#include "base/text.hpp"
#include "client/summary.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace muster::client {
namespace {

constexpr std::array kOptions = {
    CommandOption{"--url", "URL", "the service, for instance https://members.example.org"},
    CommandOption{"--key-file", "FILE", "the organization's key (org_...); or set MUSTER_API_KEY"},
    CommandOption{"--map", "COLUMN=TO",
                  "TO is a field (email, first_name, ...), attribute:KEY or ignored;\n"
                  "overrides the guess for that column; may be repeated"},
    CommandOption{"--dry-run", "",
                  "check everything on the server, import nothing, free the slot again"},
    CommandOption{"--commit", "", "import the valid rows without asking"},
    CommandOption{"--errors", "OUT.csv",
                  "report of the rows that cannot be imported (default: FILE-errors.csv)"},
    CommandOption{"--resume", "JOB", "continue a job that was interrupted"},
    CommandOption{"--chunk", "N", "rows per request, 1 to 5000 (default 5000)"},
    CommandOption{"--ca-file", "PEM", "trust these certificate authorities"},
    CommandOption{"--separator", "C",
                  "the file's separator (default: guessed from its first line)"},
    CommandOption{"--quiet", "", "only errors and the question before the import"},
    CommandOption{"--json", "", "one JSON document with the counts on standard output"},
};

// Known so that their value is refused and not reported.
constexpr std::array kKeyOptions = {
    CommandOption{"--key", "KEY", ""},
    CommandOption{"--api-key", "KEY", ""},
    CommandOption{"--token", "KEY", ""},
};

void refuse_key(const CommandLine& line) {
    for (const CommandOption& option : kKeyOptions) {
        if (!line.has(option.name)) continue;
        throw UsageError(
            "every user of this machine can see a key on the command line: "
            "put it into a file and use --key-file, or into the environment as MUSTER_API_KEY");
    }
}

MapOption parse_map(std::string_view text) {
    const auto equals = text.rfind('=');  // a column's name may hold one, a target does not
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
        throw invalid_value("--map", text, "Column=field, Column=attribute:key or Column=ignored");
    }
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::size_t parse_chunk(std::string_view text) {
    const auto rows = parse_number<std::size_t>(text);
    if (!rows || *rows == 0 || *rows > Options::kMostRowsPerCall) {
        throw invalid_value(
            "--chunk", text,
            "a number of rows from 1 to " + std::to_string(Options::kMostRowsPerCall));
    }
    return *rows;
}

char parse_separator(std::string_view text) {
    if (text == "tab" || text == "\\t") return '\t';
    if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r") {
        throw invalid_value("--separator", text, "one character, or tab");
    }
    return text.front();
}

std::string parse_job(std::string_view text) {
    if (!Uuid::parse(text)) throw invalid_value("--resume", text, "the id of an import job");
    return std::string(text);
}

std::string file_of(const CommandLine& line) {
    if (line.arguments.empty()) throw UsageError("FILE is missing");
    if (line.arguments.size() > 1) throw UsageError("more than one FILE: " + line.arguments[1]);
    const std::string& file = line.arguments.front();
    if (file == "-") throw UsageError("FILE cannot be standard input: the file is read twice");
    if (file.empty()) throw UsageError("FILE is empty");
    return file;
}

void check_url(std::string& url) {
    while (url.ends_with('/')) url.pop_back();
    const bool tls = url.starts_with("https://");
    if (!tls && !url.starts_with("http://")) throw UsageError("--url needs https://host[:port]");
    const std::string_view rest = std::string_view(url).substr(tls ? 8 : 7);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    if (authority.empty() || rest.find_first_of("?# ") != std::string_view::npos) {
        throw UsageError("--url needs https://host[:port] without a query");
    }
    if (authority.find('@') != std::string_view::npos)
        throw UsageError("--url must not contain a name or a password");
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
    if (options.url.empty()) throw UsageError("--url is missing");
    check_url(options.url);
    if (options.dry_run && options.commit)
        throw UsageError("--dry-run and --commit exclude each other");
    if (options.errors.empty()) options.errors = default_errors_path(options.file);
    if (options.errors == options.file) throw UsageError("--errors names the imported file");
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
                             "...): an import needs an organization's key (org_...)");
        }
    }
    if (key.starts_with("org_") && !is_credential("org_", key)) {
        throw UsageError("the key is mistyped or cut short: its check digits do not fit");
    }
}

}  // namespace

const Program& program() {
    static const Program kProgram{
        .name = "muster-import",
        .synopsis = "FILE.csv --url URL --key-file FILE [OPTION]...",
        .description = "Imports the members of a CSV file through the Muster partner API.",
        .options = kOptions,
        .command_options = kKeyOptions,
        .details =
            "Exit status: 0 all rows are in, 1 usage or file, 2 some rows are not in,\n"
            "3 the service failed or refused, 4 stopped before the import. See muster-import(1).\n",
        .usage_error_status = static_cast<int>(ExitCode::Usage),
        .failure_status = static_cast<int>(ExitCode::Failed),
    };
    return kProgram;
}

Options options_of(const CommandLine& line) {
    refuse_key(line);
    Options options;
    options.file = file_of(line);
    options.url = line.value("--url");
    options.key_file = line.value("--key-file");
    options.ca_file = line.value("--ca-file");
    options.errors = line.value("--errors");
    if (line.has("--resume")) options.resume = parse_job(line.value("--resume"));
    for (const std::string& map : line.values("--map")) options.maps.push_back(parse_map(map));
    if (line.has("--chunk")) options.chunk = parse_chunk(line.value("--chunk"));
    if (line.has("--separator")) options.separator = parse_separator(line.value("--separator"));
    options.dry_run = line.has("--dry-run");
    options.commit = line.has("--commit");
    options.quiet = line.has("--quiet");
    options.json = line.has("--json");
    check_together(options);
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

}  // namespace muster::client
