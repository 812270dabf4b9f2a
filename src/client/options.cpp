#include "client/options.hpp"

#include "base/crypto.hpp"
#include "base/ids.hpp"
#include "base/loopback.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/dates.hpp"
#include "client/named_files.hpp"
#include "client/summary.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace muster::client {
namespace {

constexpr std::array kOptions = {
    CommandOption{"--url", "URL",
                  "the service, such as https://members.example.org; or set MUSTER_URL"},
    CommandOption{"--key-file", "FILE",
                  "the organization's key (org_...); or set MUSTER_KEY_FILE or MUSTER_API_KEY"},
    CommandOption{"--map", "COLUMN=TO",
                  "TO is a field (email, first_name, ...), attribute:KEY, attributes (JSON\n"
                  "objects) or ignored; "
                  "overrides the guess for that column; may be repeated",
                  true},
    CommandOption{"--date-format", "F",
                  "of all dates: YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY, DD/MM/YYYY, ... or excel\n"
                  "(default: guessed from each column)"},
    CommandOption{"--format", "COL=F",
                  "a date format, decimal-comma, decimal-point, TRUE/FALSE for two words,\n"
                  "split:SEPARATOR, or as-is; may be repeated",
                  true},
    CommandOption{"--strict", "", "convert no values: accept the API's own formats only"},
    CommandOption{"--reject-bad-values", "",
                  "do not import a row with an unreadable value (default: leave out\nthe value)"},
    CommandOption{"--encoding", "NAME",
                  "the file's encoding, such as windows-1252 (default: detected)"},
    CommandOption{"--no-header", "", "the first line is a row; columns are \"column 1\", ..."},
    CommandOption{"--dry-run", "",
                  "validate all rows on the server, import nothing, cancel the job"},
    CommandOption{"--commit", "", "import the valid rows without asking"},
    CommandOption{
        "--errors", "OUT.csv",
        "the report of the rows that cannot be imported (default: members-errors.csv for members.csv)"},
    CommandOption{"--resume", "JOB", "continue a job that was interrupted"},
    CommandOption{"--cancel", "JOB", "cancel a job, without a FILE"},
    CommandOption{"--undo", "JOB",
                  "remove what a job imported, except what was changed since, without a\nFILE; "
                  "with --dry-run, print the counts only"},
    CommandOption{"--yes", "", "undo without asking"},
    CommandOption{"--list", "", "list the organization's newest jobs, without a FILE"},
    CommandOption{"--chunk", "N", "rows per request, 1 to 5000 (default 5000)"},
    CommandOption{"--ca-file", "PEM", "trust these certificate authorities"},
    CommandOption{"--separator", "C",
                  "the file's separator (default: guessed from its first line)"},
    CommandOption{
        "--quiet", "",
        "print only errors, the question, and how many rows were not imported\nor values left out"},
    CommandOption{"--json", "", "print the counts as one JSON document on standard output"},
};

// Declared so that the error does not quote their value.
constexpr std::array kKeyOptions = {
    CommandOption{"--key", "KEY", ""},
    CommandOption{"--api-key", "KEY", ""},
    CommandOption{"--token", "KEY", ""},
};

// Before all other checks, whose errors quote the words of the command line.
void refuse_key(const CommandLine& line) {
    if (std::ranges::any_of(line.values("--key-file"), exposes_key)) {
        throw UsageError(
            "--key-file names a file, and it was given a key; put the key into a file, or set "
            "MUSTER_API_KEY");
    }
    bool has_key =
        std::ranges::any_of(kKeyOptions, [&](const auto& option) { return line.has(option.name); });
    has_key = has_key || std::ranges::any_of(line.arguments, exposes_key);
    for (const auto& [option, values] : line.options)
        has_key = has_key || std::ranges::any_of(values, exposes_key);
    if (!has_key) return;
    throw UsageError(
        "a key on the command line is visible to every user of this machine; "
        "put it into a file and use --key-file, or set MUSTER_API_KEY");
}

MapOption parse_map(std::string_view text) {
    const auto equals = text.rfind('=');  // a column's name may contain one, a target does not
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
        throw invalid_value(
            "--map", text,
            "Column=field, Column=attribute:key, Column=attributes or Column=ignored");
    }
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

FormatOption parse_format(std::string_view text) {
    const auto equals = text.rfind('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
        throw invalid_value("--format", text, "Column=FORMAT, such as Birthday=DD.MM.YYYY");
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string parse_date_format(std::string text) {
    if (text.empty() || parse_date_pattern(text)) return text;
    throw invalid_value("--date-format", text,
                        "YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY, DD/MM/YYYY, YYYY/MM/DD or excel");
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

// The job of --resume, --cancel or --undo; "" without the option.
std::string job_of(const CommandLine& line, std::string_view option) {
    std::string text = line.value(option);
    if (line.has(option) && !Uuid::parse(text)) {
        throw invalid_value(option, text, "the id of an import job");
    }
    return text;
}

std::string file_of(const CommandLine& line) {
    for (const char* option : {"--cancel", "--undo", "--list"}) {
        if (!line.has(option)) continue;
        if (line.arguments.empty()) return "";
        throw UsageError(std::string(option) + " takes no FILE; leave out " +
                         printable(line.arguments.front()));
    }
    if (line.arguments.empty())
        throw UsageError("FILE is missing; name a CSV file, or - for standard input");
    if (line.arguments.size() > 1) {
        throw UsageError("unexpected argument " + printable(line.arguments[1]) + "; name one FILE");
    }
    const std::string& file = line.arguments.front();
    if (file.empty()) throw UsageError("FILE is empty");
    return file;
}

// `source`: where the URL is from, such as --url.
void check_url(std::string& url, const std::string& source) {
    // First: the other errors quote the URL.
    if (url.find('@') != std::string::npos)
        throw UsageError(source + " must not contain a name or a password");
    while (url.ends_with('/')) url.pop_back();
    const bool tls = url.starts_with("https://");
    if (!tls && !url.starts_with("http://")) {
        throw invalid_value(source, url, "https://HOST[:PORT]");
    }
    const std::string_view authority = authority_of(url);
    const std::string host = url.substr(0, url.find("://") + 3 + authority.size());
    if (!authority.empty() && url == host + "/v1")
        throw invalid_value(source, url, host + ", without /v1");
    if (authority.empty() || url != host || url.find(' ') != std::string::npos)
        throw UsageError(source + " must be https://HOST[:PORT] without a path or a query");
    if (!tls && !is_loopback(authority)) {
        throw UsageError(
            source +
            " must be https://, because plain http would expose the key and the members; "
            "http:// is allowed on the loopback only");
    }
}

// Removes "-errors" or "-errors-N" from the end and returns the number of the next report.
unsigned next_report(std::string& file) {
    constexpr std::string_view kMark = "-errors";
    const auto at = file.rfind(kMark);
    if (at == std::string::npos || at == 0) return 1;
    const std::string_view rest = std::string_view(file).substr(at + kMark.size());
    const auto number = rest.starts_with('-') ? parse_number<std::uint16_t>(rest.substr(1))
                                              : std::optional<std::uint16_t>(1);
    if ((!rest.empty() && !rest.starts_with('-')) || !number) return 1;
    file.resize(at);
    return *number + 1U;
}

void remove_ending(std::string& file, std::string_view ending) {
    if (file.size() <= ending.size()) return;
    const std::size_t rest = file.size() - ending.size();
    if (equal_ignoring_case(std::string_view(file).substr(rest), ending)) file.resize(rest);
}

// members.csv and members.csv.gz: members-errors.csv; members-errors.csv: members-errors-2.csv
std::string default_errors_path(std::string file) {
    if (file == "-") return "import-errors.csv";
    remove_ending(file, ".gz");
    remove_ending(file, ".csv");
    const unsigned report = next_report(file);
    return file + "-errors" + (report > 1 ? "-" + std::to_string(report) : "") + ".csv";
}

// Whether both paths name one file, also through a link. "-" is standard input.
bool is_same_file(const std::string& errors, const std::string& file) {
    if (errors == file) return true;
    struct stat report {};
    struct stat input {};
    if (stat(errors.c_str(), &report) != 0 || !S_ISREG(report.st_mode)) return false;
    const int found = file == "-" ? fstat(STDIN_FILENO, &input) : stat(file.c_str(), &input);
    return found == 0 && report.st_dev == input.st_dev && report.st_ino == input.st_ino;
}

void check_together(Options& options) {
    if (options.url.empty()) {
        throw UsageError(
            "--url is missing; use --url https://HOST, set MUSTER_URL, or write url = "
            "https://HOST into ~/.config/muster/profile");
    }
    check_url(options.url, options.url_source);
    if (options.dry_run && options.commit)
        throw UsageError("--dry-run and --commit are both given; use one of them");
    const int without_file = static_cast<int>(options.list) +
                             static_cast<int>(!options.cancel.empty()) +
                             static_cast<int>(!options.undo.empty());
    if (without_file > 1)
        throw UsageError("--list, --cancel and --undo exclude each other; use one of them");
    if (!options.undo.empty() && (options.commit || !options.resume.empty()))
        throw UsageError("--undo takes neither --commit nor --resume; leave them out");
    if (options.yes && options.undo.empty()) throw UsageError("--yes is given without --undo JOB");
    const bool imports_nothing = options.list || !options.cancel.empty();
    if (imports_nothing && (options.dry_run || options.commit || !options.resume.empty()))
        throw UsageError(
            "--list and --cancel take none of --dry-run, --commit and --resume; leave them out");
    if (without_file > 0) return;
    if (options.formats.strict && !options.formats.date_format.empty())
        throw UsageError("--strict and --date-format are both given; use one of them");
    if (options.errors.empty()) options.errors = default_errors_path(options.file);
    if (is_same_file(options.errors, options.file))
        throw UsageError("--errors is the imported file; name another file");
}

void check_ca_file(const Options& options, bool is_given) {
    if (options.ca_file.empty()) return;
    const char* origin = is_given ? "" : " (of MUSTER_CA_FILE or the profile)";
    require_certificates("--ca-file " + options.ca_file + origin, options.ca_file);
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

void append_option(std::string& to, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    to.append(" ").append(name);
    append_quoted(to, value);
}

void append_connection(std::string& to, const Options& options) {
    append_option(to, "--url", options.url);
    append_option(to, "--key-file", options.key_file);
    append_option(to, "--ca-file", options.ca_file);
}

// A command on a job that needs no file.
std::string job_command(const Options& options, std::string_view what, std::string_view job) {
    std::string command = "muster-import";
    append_option(command, what, job);
    append_connection(command, options);
    return command;
}

// The options for reading the file. A resumed job needs the same ones.
void append_reading(std::string& to, const Options& options) {
    append_option(to, "--encoding", options.encoding);
    if (options.no_header) to += " --no-header";
    append_option(to, "--date-format", options.formats.date_format);
    for (const FormatOption& format : options.formats.columns)
        append_option(to, "--format", format.column + "=" + format.format);
    if (options.formats.strict) to += " --strict";
    if (options.reject_bad_values) to += " --reject-bad-values";
}

void check_key(std::string_view key) {
    const bool visible =
        std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (key.empty() || !visible)
        throw UsageError("the key must be one line of visible ASCII characters");
    for (const std::string_view other : {"mk_live_", "ek_live_", "ck_live_"}) {
        if (key.starts_with(other)) {
            throw UsageError("the key is of another kind (" + std::string(other) +
                             "...); an import needs an organization's key (org_...)");
        }
    }
    if (key.starts_with("org_") && !is_credential("org_", key)) {
        throw UsageError("the key is mistyped or cut short: its check digits do not match");
    }
}

}  // namespace

const Program& program() {
    static const Program kProgram{
        .name = "muster-import",
        .synopsis =
            "FILE.csv --url URL --key-file FILE [OPTION]...\n"
            "       muster-import --cancel JOB --url URL --key-file FILE\n"
            "       muster-import --undo JOB --url URL --key-file FILE\n"
            "       muster-import --list --url URL --key-file FILE",
        .description = "Imports the members of a CSV file through the Muster partner API.",
        .options = kOptions,
        .command_options = kKeyOptions,
        .details =
            "FILE is CSV text in any encoding, or gzip; - is standard input.\n"
            "Exit status: 0 all rows were imported, 1 usage or file error, 2 some rows were not\n"
            "imported, 3 the service failed or refused, 4 stopped before the import.\n"
            "See muster-import(1).\n",
        .has_json_errors = true,
        .usage_error_status = static_cast<int>(ExitCode::Usage),
        .failure_status = static_cast<int>(ExitCode::Failed),
    };
    return kProgram;
}

Options options_of(const CommandLine& line, const Defaults& defaults) {
    refuse_key(line);
    Options options;
    options.file = file_of(line);
    options.url = line.value("--url", defaults.url);
    if (!line.has("--url")) options.url_source = defaults.url_source;
    options.key_file = line.value("--key-file", defaults.key_file);
    options.ca_file = line.value("--ca-file", defaults.ca_file);
    options.profile_maps = defaults.maps;
    options.errors = line.value("--errors");
    options.resume = job_of(line, "--resume");
    options.cancel = job_of(line, "--cancel");
    options.undo = job_of(line, "--undo");
    for (const std::string& map : line.values("--map")) options.maps.push_back(parse_map(map));
    if (line.has("--chunk")) options.chunk = parse_chunk(line.value("--chunk"));
    if (line.has("--separator")) options.separator = parse_separator(line.value("--separator"));
    options.encoding = line.value("--encoding");
    options.formats.date_format = parse_date_format(line.value("--date-format"));
    for (const std::string& format : line.values("--format"))
        options.formats.columns.push_back(parse_format(format));
    options.formats.strict = line.has("--strict");
    options.reject_bad_values = line.has("--reject-bad-values");
    options.no_header = line.has("--no-header");
    options.list = line.has("--list");
    options.dry_run = line.has("--dry-run");
    options.commit = line.has("--commit");
    options.yes = line.has("--yes");
    options.quiet = line.has("--quiet");
    options.json = line.has("--json");
    check_together(options);
    check_ca_file(options, line.has("--ca-file"));
    return options;
}

Secret load_key(const Options& options, const char* environment_key) {
    std::string text;
    if (!options.key_file.empty()) {
        text = first_line("the key file " + options.key_file, options.key_file);
    } else if (environment_key != nullptr) {
        text = environment_key;
    } else {
        throw UsageError("no key: use --key-file FILE, or set MUSTER_KEY_FILE or MUSTER_API_KEY");
    }
    Secret key{std::string(trimmed_ascii(text))};
    check_key(key.reveal());
    return key;
}

std::string cancel_command(const Options& options, std::string_view job) {
    return job_command(options, "--cancel", job);
}

std::string undo_command(const Options& options, std::string_view job) {
    return job_command(options, "--undo", job);
}

std::string resume_command(const Options& options, std::string_view job, std::string_view more) {
    std::string command = "muster-import";
    append_quoted(command, options.file);
    append_connection(command, options);
    for (const MapOption& map : options.maps) {
        append_option(command, "--map", map.column + "=" + map.target);
    }
    append_reading(command, options);
    if (options.separator != 0) {
        append_option(command, "--separator",
                      options.separator == '\t' ? "tab" : std::string(1, options.separator));
    }
    if (options.chunk != Options::kMostRowsPerCall) {
        append_option(command, "--chunk", std::to_string(options.chunk));
    }
    if (options.errors != default_errors_path(options.file)) {
        append_option(command, "--errors", options.errors);
    }
    append_option(command, "--resume", job);
    return command.append(more);
}

}  // namespace muster::client
