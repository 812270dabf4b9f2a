// A run of the importer against an API in memory: its folder, and its captured output.
#pragma once

#include "base/json.hpp"
#include "base/text.hpp"
#include "client/importer.hpp"
#include "unit/client/fake_muster.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <sstream>

namespace muster::test {

using namespace muster::client;

inline constexpr const char* kJob = FakeMuster::kJob;
// When a job was created whose file has not changed since.
inline constexpr const char* kAfterTheFile = "2099-01-01T00:00:00.000Z";
// The report of a file with kHeader.
inline const std::string kReportHeader =
    "\xEF\xBB\xBF"
    "Email,First Name,Birthday,Shirt Size,row_number,line,result,error_code,error_message\r\n";
inline const std::string kServerHeader =
    "email,external_id,first_name,last_name,display_name,locale,country,dob,attributes,row_number,"
    "error_code,error_message\r\n";

// The environment of one importer: a folder, an API, and the captured output.
struct Environment {
    Scratch scratch;
    FakeMuster api;
    std::atomic<bool> stop{false};
    std::function<bool(const std::string&)> ask;
    Defaults defaults;
    std::string out;
    std::string err;

    ExitCode run(const std::string& file, std::vector<std::string> more) {
        std::vector<std::string> arguments = {scratch.file(file), "--url", api.url()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_words(arguments);
    }
    ExitCode run_words(const std::vector<std::string>& arguments) {
        std::ostringstream out_stream;
        std::ostringstream err_stream;
        const Terminal terminal{.out = out_stream,
                                .err = err_stream,
                                .err_is_terminal = false,
                                .ask = ask,
                                .stop = stop,
                                .today = *Date::parse("2026-11-20"),
                                .first_pause = Milliseconds(2),
                                .longest_pause = Milliseconds(10)};
        const ExitCode exit_code =
            run_import(options_of(parse_command_line(program(), arguments), defaults),
                       Secret("session-token-that-is-never-printed"), terminal);
        out = out_stream.str();
        err = err_stream.str();
        BOOST_TEST(all().find("session-token") == std::string::npos);
        BOOST_TEST_MESSAGE(all());
        return exit_code;
    }
    std::string all() const { return out + err; }
    bool says(std::string_view text) const { return all().find(text) != std::string::npos; }
    // A line of counts: the label, spaces, the number.
    bool counts(const std::string& label, const std::string& number) const {
        for (auto at = all().find(label); at != std::string::npos; at = all().find(label, at + 1)) {
            const std::string line = all().substr(at, all().find('\n', at) - at);
            if (trimmed(std::string_view(line).substr(label.size())) == number) return true;
        }
        return false;
    }
    Json::Value json() const {
        Json::Value value;
        BOOST_TEST(parse_json(out, value));
        return value;
    }
};

inline const std::string kHeader = "Email,First Name,Birthday,Shirt Size\n";

inline std::string many_rows(int count) {
    std::string text = kHeader;
    for (int i = 1; i <= count; ++i)
        text += "m" + std::to_string(i) + "@example.org,Ann,1990-01-01,M\n";
    return text;
}

inline bool is(ExitCode left, ExitCode right) {
    return left == right;
}

}  // namespace muster::test
