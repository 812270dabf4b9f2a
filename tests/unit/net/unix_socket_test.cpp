// net/unix_socket.hpp: whether a socket is listening, closed or absent.
#include "net/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "print.hpp"

#include <cstring>

using muster::net::Listening;
using muster::net::probe_socket;

BOOST_AUTO_TEST_SUITE(unix_socket)

BOOST_AUTO_TEST_CASE(a_listening_a_closed_and_an_absent_socket_are_distinguished) {
    char folder[] = "/tmp/muster-socket-XXXXXX";
    BOOST_REQUIRE(mkdtemp(folder) != nullptr);
    const std::string path = std::string(folder) + "/a.sock";
    BOOST_TEST(probe_socket(path).listening == Listening::Absent);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    BOOST_REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    BOOST_TEST(probe_socket(path).listening == Listening::No);
    BOOST_REQUIRE(listen(fd, 8) == 0);
    BOOST_TEST(probe_socket(path).listening == Listening::Yes);
    BOOST_TEST(probe_socket(path).reason == "");
    close(fd);
    const auto gone = probe_socket(path);
    BOOST_TEST(gone.listening == Listening::No);
    BOOST_TEST(gone.reason != "");
    unlink(path.c_str());
    rmdir(folder);
    BOOST_TEST(probe_socket(std::string(200, 'x')).listening == Listening::No);
}

BOOST_AUTO_TEST_SUITE_END()
