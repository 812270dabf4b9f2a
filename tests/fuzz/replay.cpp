// Runs a fuzz target on the files, and on all files in the folders, given as arguments: replays the
// corpora without libFuzzer. Prints their number. Exit status 0: all passed; otherwise the failing
// file is named.
#include "fuzz/fuzz.hpp"

#include <unistd.h>

#include <algorithm>
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

std::string g_file;  // the current file

void name_file(int) {
    g_file += ": failed\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, g_file.data(), g_file.size());
    std::_Exit(1);
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
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) try {
    std::signal(SIGABRT, name_file);
    const auto files = files_of(count, arguments);
    for (const std::string& file : files) replay(file);
    std::printf("%zu files replayed\n", files.size());
    return files.empty() ? 1 : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", g_file.c_str(), error.what());
    return 1;
}
