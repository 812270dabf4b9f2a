// base/spooled_text.hpp: what is read back, where it was meanwhile, and failures of the file.
#include "base/spooled_text.hpp"

#include "print.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

using muster::SpooledText;
using muster::TemporaryFileError;

namespace {

namespace fs = std::filesystem;

// A folder for temporary files.
struct Folder {
    std::string path = fs::temp_directory_path() / "spooled-XXXXXX";
    std::optional<std::string> before = variable("TMPDIR");

    Folder() {
        BOOST_TEST_REQUIRE(mkdtemp(path.data()) != nullptr);
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~Folder() {
        if (before) {
            setenv("TMPDIR", before->c_str(), 1);
        } else {
            unsetenv("TMPDIR");
        }
        fs::remove_all(path);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    static std::optional<std::string> variable(const char* name) {
        const char* value = std::getenv(name);
        return value ? std::optional<std::string>(value) : std::nullopt;
    }
};

std::string read_all(const SpooledText& text) {
    std::string all;
    text.read([&](std::string_view piece) {
        all += piece;
        return true;
    });
    return all;
}

// The files of this process that were opened in the folder and have no name.
std::size_t nameless_files(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone).string();
        if (target.starts_with(folder) && target.ends_with(" (deleted)")) ++count;
    }
    return count;
}

// Writes to files fail beyond this size.
struct FileSizeLimit {
    rlimit before{};

    explicit FileSizeLimit(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit limit{bytes, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, SIG_DFL);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spooled_text, Folder)

BOOST_AUTO_TEST_CASE(a_short_text_stays_in_memory) {
    SpooledText text(10);
    text.append("01234");
    text.append("56789");
    text.finish();
    BOOST_TEST(text.size() == 10U);
    BOOST_TEST(nameless_files(path) == 0U);
    BOOST_TEST(read_all(text) == "0123456789");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_long_text_is_in_a_file_without_a_name) {
    std::string expected;
    {
        SpooledText text(1000);
        for (int i = 0; i < 100'000; ++i) {
            const std::string piece = std::to_string(i) + ",";
            text.append(piece);
            expected += piece;
        }
        text.finish();
        BOOST_TEST(text.size() == expected.size());
        BOOST_TEST(nameless_files(path) == 1U);
        BOOST_TEST(fs::is_empty(path));
        BOOST_TEST((read_all(text) == expected));
    }
    BOOST_TEST(nameless_files(path) == 0U);
}

BOOST_AUTO_TEST_CASE(reading_ends_when_the_sink_returns_false) {
    SpooledText text(3);
    text.append("abc");
    text.append(std::string(1'000'000, 'x'));
    text.finish();
    for (const int most : {1, 2}) {
        int pieces = 0;
        text.read([&](std::string_view) { return ++pieces < most; });
        BOOST_TEST(pieces == most);
    }
}

BOOST_AUTO_TEST_CASE(pieces_of_any_size_are_read_in_order) {
    SpooledText text(3);
    std::string expected;
    for (const std::size_t size : {2, 200'000, 100'000, 0, 700'000, 1}) {
        const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
        text.append(piece);
        expected += piece;
    }
    text.finish();
    BOOST_TEST((read_all(text) == expected));
}

BOOST_AUTO_TEST_CASE(a_missing_folder_fails_only_a_long_text) {
    fs::remove_all(path);
    SpooledText text(3);
    text.append("abc");
    const std::string reason = "a temporary file in " + path +
                               " cannot be created: No such file or directory; set TMPDIR to "
                               "another folder";
    BOOST_CHECK_EXCEPTION(text.append("d"), TemporaryFileError,
                          [&](const auto& error) { return error.what() == reason; });
}

BOOST_AUTO_TEST_CASE(a_full_disk_fails_an_append_or_the_end) {
    const FileSizeLimit limit(100'000);
    SpooledText text(3);
    text.append(std::string(200'000, 'x'));  // waits for more
    BOOST_CHECK_THROW(text.finish(), TemporaryFileError);
    SpooledText longer(3);
    longer.append("abc");
    BOOST_CHECK_THROW(longer.append(std::string(300'000, 'x')), TemporaryFileError);
}

BOOST_AUTO_TEST_SUITE_END()
