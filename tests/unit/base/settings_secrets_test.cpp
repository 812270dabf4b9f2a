// base/settings.hpp: secrets from files.
#include "unit/base/settings_files.hpp"

#include "print.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

using muster::Settings;

BOOST_FIXTURE_TEST_SUITE(settings_secrets, muster::test::SettingsFiles)

BOOST_AUTO_TEST_CASE(a_password_file_may_end_with_a_line_end) {
    const std::string file = scratch.write("password", "s3cret word\n");
    BOOST_TEST(load("[database]\npassword = file:" + file + "\n").database.password.reveal() ==
               "s3cret word");
}

BOOST_AUTO_TEST_CASE(a_key_is_read_to_the_last_byte_with_or_without_the_prefix) {
    const std::string bytes = std::string("\n \0", 3) + kKeyBytes + "\n";
    const std::string file = scratch.write("key", bytes);
    for (const std::string prefix : {"", "file:"}) {
        const Settings read = load("[security]\nkey_file = " + prefix + file + "\n");
        BOOST_TEST(read.security.key.reveal() == bytes);
    }
}

BOOST_AUTO_TEST_CASE(an_unreadable_secret_is_rejected_with_its_location) {
    BOOST_TEST(refusal("[database]\n\npassword = file:/nowhere/p\n") ==
               "muster.conf:3: database.password names /nowhere/p, which cannot be read: "
               "No such file or directory");
    const std::string empty = scratch.write("empty", "");
    BOOST_TEST(refusal("[database]\npassword = file:" + empty) ==
               "muster.conf:2: database.password names empty, which cannot be read: it is empty");
    BOOST_TEST(refusal("[security]\nkey_file = file:\n") ==
               "muster.conf:2: security.key_file names no file; use file:/path");
}

BOOST_AUTO_TEST_CASE(a_value_that_a_terminal_would_obey_is_shown_as_escapes) {
    BOOST_TEST(refusal("[log]\nlevel = i\xff\x1b[31m\n").find("\"i\\xff\\x1b[31m\"") < 99U);
}

BOOST_AUTO_TEST_CASE(a_folder_is_rejected_as_a_secret_file) {
    std::filesystem::create_directory(scratch.file("folder"));
    BOOST_TEST(refusal("[security]\nkey_file = " + scratch.file("folder") + "\n") ==
               "muster.conf:2: security.key_file names folder, which cannot be read: "
               "it is a folder");
}

BOOST_AUTO_TEST_CASE(a_secret_file_is_read_up_to_64_kib) {
    const std::string most = scratch.write("most", std::string(65'536, 'a'));
    BOOST_TEST(refusal("[database]\npassword = file:" + most) == "");
    const std::string more =
        "muster.conf:2: database.password names a file of more than 65536 "
        "bytes; use a file with only the secret";
    const std::string larger = scratch.write("larger", std::string(65'537, 'a'));
    BOOST_TEST(refusal("[database]\npassword = file:" + larger) == more);
}

BOOST_AUTO_TEST_CASE(a_secret_is_read_from_a_regular_file_only) {
    const std::string pipe = scratch.file("pipe");
    BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const auto reason = [](const std::string& setting, const std::string& path) {
        return "muster.conf:2: " + setting + " names " + path +
               ", which cannot be read: it is a device, a pipe or a socket; use a regular file";
    };
    for (const std::string path : {"/dev/zero", "/dev/null", "/dev/urandom"}) {
        BOOST_TEST(refusal("[security]\nkey_file = " + path + "\n") ==
                   reason("security.key_file", path));
        BOOST_TEST(refusal("[database]\npassword = file:" + path) ==
                   reason("database.password", path));
    }
    BOOST_TEST(refusal("[mail]\npassword = file:" + pipe) == reason("mail.password", "pipe"));
    symlink(key_file.c_str(), scratch.file("link").c_str());
    BOOST_TEST(refusal("[security]\nkey_file = " + scratch.file("link")) == "");
}

BOOST_AUTO_TEST_CASE(a_key_in_the_place_of_its_path_is_not_shown) {
    const std::string digits(64, 'a');
    for (const std::string prefix : {"", "file:"}) {
        BOOST_TEST(refusal("[security]\nkey_file = " + prefix + digits + "\n") ==
                   "muster.conf:2: security.key_file names a file that cannot be read: "
                   "No such file or directory; write the secret into a file and use file:/path");
    }
}

BOOST_AUTO_TEST_CASE(a_short_key_is_rejected_and_not_shown) {
    const std::string file = scratch.write("key", "only-thirty-one-bytes-long-12345");
    BOOST_TEST(refusal("[security]\nkey_file = " + file) == "");
    scratch.write("key", "only-thirty-one-bytes-long-1234");
    const std::string reason = refusal("[security]\nkey_file = " + file);
    BOOST_TEST(reason ==
               "muster.conf:2: security.key_file is not valid; use a file of at least 32 bytes");
}

BOOST_AUTO_TEST_CASE(a_line_of_a_secret_is_not_shown) {
    const std::vector<std::string> lines = {"MC4CAQAwzQ7xK2VwBCIEIHq",
                                            "zQ7x0xgkT3+aB/0Zw=",
                                            "workerzQ7xpq7L=",
                                            "zQ7xYg==",
                                            "zQ7x",
                                            "[MC4CzQ7xMAUGAytl]",
                                            "[providers.zQ7xAQAw]",
                                            "zQ7x" + std::string(900'000, 'k') + "="};
    for (const std::string before :
         {"", "[providers.slack]\nclient_secret = -----BEGIN\n", "[server]\n", "[log]\n"}) {
        for (const std::string& line : lines) {
            try {
                load(before + line + "\n");
                BOOST_FAIL("not rejected");
            } catch (const muster::SettingsError& error) {
                const std::string reason = error.what();
                BOOST_TEST(reason.find("zQ7x") == std::string::npos, reason);
                BOOST_TEST(error.faults.size() == 1U);
                BOOST_TEST(error.faults.front().setting == "");
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_text_that_is_longer_than_paths_is_not_shown) {
    const std::string reason =
        refusal("[database]\npassword = file:/" + std::string(1'000'000, 'k') + "\n");
    BOOST_TEST(reason ==
               "muster.conf:2: database.password names a file that cannot be read: "
               "File name too long; write the secret into a file and use file:/path");
}

BOOST_AUTO_TEST_SUITE_END()
