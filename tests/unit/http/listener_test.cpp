// http/listener.hpp: what may be at the path of a socket when musterd starts.
#include "http/listener.hpp"

#include "print.hpp"
#include "unit/client/scratch.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

using muster::http::open_listener;
using namespace std::chrono_literals;

namespace {

struct SocketPath {
    muster::test::Scratch scratch;
    std::string path = scratch.file("a.socket");

    std::string refusal() const {
        try {
            close(open_listener(0, path, 0600, 0ms));
            return "";
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(listener, SocketPath)

BOOST_AUTO_TEST_CASE(a_socket_without_a_listener_is_replaced) {
    close(open_listener(0, path, 0600));
    BOOST_TEST(scratch.exists("a.socket"));
    BOOST_TEST(refusal() == "");
}

BOOST_AUTO_TEST_CASE(a_socket_has_the_permissions_of_the_configuration) {
    const int fd = open_listener(0, path, 0640);
    struct stat found {};
    BOOST_REQUIRE(lstat(path.c_str(), &found) == 0);
    BOOST_TEST(S_ISSOCK(found.st_mode));
    BOOST_TEST((found.st_mode & 0777U) == 0640U);
    close(fd);
}

BOOST_AUTO_TEST_CASE(a_file_at_the_path_is_kept) {
    scratch.write("a.socket", "valuable");
    BOOST_TEST(refusal() == "cannot listen at " + path +
                                ", which is not a socket; name another path in [server]");
    BOOST_TEST(scratch.read("a.socket") == "valuable");
}

BOOST_AUTO_TEST_CASE(a_link_at_the_path_is_kept) {
    const std::string target = scratch.write("target", "valuable");
    BOOST_REQUIRE(symlink(target.c_str(), path.c_str()) == 0);
    BOOST_TEST(refusal().find("which is not a socket") != std::string::npos);
    BOOST_TEST(scratch.read("a.socket") == "valuable");
}

BOOST_AUTO_TEST_CASE(a_socket_with_a_listener_is_kept) {
    const int fd = open_listener(0, path, 0600);
    struct stat before {};
    BOOST_REQUIRE(lstat(path.c_str(), &before) == 0);
    BOOST_TEST(refusal() == "another process listens at " + path +
                                "; stop it, or name another path in [server]");
    struct stat after {};
    BOOST_REQUIRE(lstat(path.c_str(), &after) == 0);
    BOOST_TEST(before.st_ino == after.st_ino);
    close(fd);
}

BOOST_AUTO_TEST_CASE(a_start_waits_for_the_workers_of_a_killed_predecessor) {
    const int fd = open_listener(0, path, 0600);
    int probes = 0;
    std::jthread predecessor([&] {
        pollfd probe{fd, POLLIN, 0};
        probes = poll(&probe, 1, 10'000);
        close(fd);
    });
    BOOST_CHECK_NO_THROW(close(open_listener(0, path, 0600, 10s)));
    predecessor.join();
    BOOST_TEST(probes == 1);
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_used_is_named) {
    path = scratch.file("missing/a.socket");
    BOOST_TEST(refusal() == path + ": No such file or directory");
    path = "/" + std::string(200, 'x');
    BOOST_TEST(refusal() == path + ": File name too long");
}

BOOST_AUTO_TEST_SUITE_END()
