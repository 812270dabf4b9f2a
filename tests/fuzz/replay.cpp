// Runs a fuzz target on the files, and on all files in the folders, given as arguments: replays the
// corpora without libFuzzer. Prints their number. Exit status 0: all passed; otherwise the failing
// file is named.
#include "fuzz/fuzz.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};

std::string g_file;     // the current file
std::string g_failure;  // the line that names it, because a handler may not allocate
std::array<struct sigaction, NSIG> g_previous;

// The previous handler, such as that of the address sanitizer, then reports the crash.
void name_file(int number) {
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, g_failure.data(), g_failure.size());
    sigaction(number, &g_previous.at(static_cast<std::size_t>(number)), nullptr);
}

void handle_crashes() {
    struct sigaction action {};
    action.sa_handler = name_file;
    action.sa_flags = SA_ONSTACK;  // the sanitizers have a stack for it
    for (const int number : kCrashes) {
        sigaction(number, &action, &g_previous.at(static_cast<std::size_t>(number)));
    }
}

std::vector<std::string> files_of(int count, char** arguments) {
    std::vector<std::string> files;
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(arguments[i])) {
            files.emplace_back(arguments[i]);
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(arguments[i])) {
            if (entry.is_regular_file()) files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

void replay(const std::string& file) {
    g_file = file;
    g_failure = file + ": failed\n";
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) try {
    handle_crashes();
    const auto files = files_of(count, arguments);
    for (const std::string& file : files) replay(file);
    std::printf("%zu files replayed\n", files.size());
    return files.empty() ? 1 : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", g_file.c_str(), error.what());
    return 1;
}
