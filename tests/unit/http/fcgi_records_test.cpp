// http/fcgi_records.hpp: heads are read whole or rejected, and replies are written as records.
#include "http/fcgi_records.hpp"

#include "print.hpp"
#include "unit/http/fcgi_bytes.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace muster::http;
using muster::test::fcgi_begin;
using muster::test::fcgi_record;

namespace {

std::string pair(const std::string& name, const std::string& value) {
    return std::string{static_cast<char>(name.size()), static_cast<char>(value.size())} + name +
           value;
}
// A name and a value with lengths of four bytes.
std::string long_pair(std::uint32_t name, std::uint32_t value, const std::string& bytes) {
    std::string text;
    for (const std::uint32_t length : {name | 0x8000'0000U, value | 0x8000'0000U}) {
        for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>(length >> shift);
    }
    return text + bytes;
}
HeadState state_of(const std::string& bytes) {
    return read_head(bytes).state;
}
std::string params(const std::string& content) {
    return fcgi_record(4, content) + fcgi_record(4, "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fcgi_records)

BOOST_AUTO_TEST_CASE(a_request_of_nginx_is_complete_at_its_last_byte) {
    const std::string head =
        fcgi_begin() + params(pair("REQUEST_METHOD", "GET") + pair("QUERY", "") +
                              long_pair(4, 300, "BODY" + std::string(300, 'x')));
    for (std::size_t size = 0; size < head.size(); ++size) {
        BOOST_TEST((state_of(head.substr(0, size)) == HeadState::Incomplete), size);
    }
    BOOST_TEST((state_of(head) == HeadState::Complete));
    BOOST_TEST((state_of(head + fcgi_record(5, "{}")) == HeadState::Complete));
}

BOOST_AUTO_TEST_CASE(a_head_has_its_parameters_and_its_size) {
    const std::string long_value(300, 'x');
    const std::string bytes =
        fcgi_begin() + params(pair("A", "1") + pair("B", "") + long_pair(1, 300, "C" + long_value) +
                              pair("A", "2"));
    const RequestHead head = read_head(bytes + "behind it");
    BOOST_TEST(head.request_id == 1);
    BOOST_TEST(head.size == bytes.size());
    const Parameters parameters(head.pairs);
    BOOST_TEST((parameters.names() == std::vector<std::string_view>{"A", "B", "C", "A"}));
    BOOST_TEST(parameters.find("A").value() == "1");
    BOOST_TEST((parameters.find_all("A") == std::vector<std::string_view>{"1", "2"}));
    BOOST_TEST(parameters.find("B").value() == "");
    BOOST_TEST(parameters.find("C").value() == long_value);
    BOOST_TEST(!parameters.find("D"));
}

BOOST_AUTO_TEST_CASE(parameters_may_span_records_and_have_padding) {
    const std::string content = pair("REQUEST_METHOD", "GET") + pair("PATH", "/v1/users");
    for (std::size_t at = 1; at < content.size(); ++at) {
        const std::string head = fcgi_begin() + fcgi_record(4, content.substr(0, at), at % 9) +
                                 fcgi_record(4, content.substr(at)) + fcgi_record(4, "");
        BOOST_TEST((state_of(head) == HeadState::Complete), at);
    }
    BOOST_TEST((state_of(fcgi_begin() + fcgi_record(4, "")) == HeadState::Complete));
}

BOOST_AUTO_TEST_CASE(lengths_that_do_not_fit_are_invalid) {
    for (const auto& [name, value] : std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{
             {0x7fff'ffff, 0x7fff'ffff}, {0x7fff'ffff, 1}, {1, 0x7fff'ffff}, {3, 2}, {0, 5}}) {
        const std::string head = fcgi_begin() + params(long_pair(name, value, "abcd"));
        BOOST_TEST((state_of(head) == HeadState::Invalid), name);
    }
    BOOST_TEST((state_of(fcgi_begin() + params("\x05")) == HeadState::Invalid));
    const std::string nul("\0", 1);
    BOOST_TEST((state_of(fcgi_begin() + params(pair("a", nul))) == HeadState::Invalid));
    BOOST_TEST((state_of(fcgi_begin() + params(pair("a" + nul, "b"))) == HeadState::Invalid));
    BOOST_TEST((state_of(fcgi_begin() + params("\x80\x01")) == HeadState::Invalid));
    BOOST_TEST((state_of(fcgi_begin() + params(pair("a", "b") + "c")) == HeadState::Invalid));
}

BOOST_AUTO_TEST_CASE(other_peers_are_rejected_at_their_first_bytes) {
    std::string other_version = fcgi_begin();
    other_version[0] = 2;
    std::string management = fcgi_begin();
    management[3] = 0;  // the request id
    std::string other_request = fcgi_begin() + params("");
    other_request[fcgi_begin().size() + 3] = 2;
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01"), other_version,
          management, fcgi_begin(2), fcgi_begin(3), fcgi_record(4, ""), fcgi_record(9, ""),
          fcgi_begin() + fcgi_record(5, ""), fcgi_begin() + fcgi_begin(),
          fcgi_begin() + std::string("G"), other_request, fcgi_record(1, "short")}) {
        BOOST_TEST((state_of(bytes) == HeadState::Invalid), bytes);
    }
}

BOOST_AUTO_TEST_CASE(a_reply_is_written_as_records_that_end_the_request) {
    for (const std::size_t size : {0UL, 1UL, 65'528UL, 65'529UL, 200'000UL}) {
        const std::string content(size, 'x');
        ReplyRecords reply(1);
        reply.append(content);
        reply.end();
        std::string expected;
        for (std::size_t at = 0; at < size; at += 65'528) {
            expected += fcgi_record(6, content.substr(at, 65'528));
        }
        expected += fcgi_record(6, "") + fcgi_record(3, std::string(8, '\0'));
        BOOST_TEST((reply.bytes() == expected), size);
    }
    ReplyRecords other(0x1234);
    other.append("a");
    BOOST_TEST(other.bytes().substr(2, 2) == "\x12\x34");
}

BOOST_AUTO_TEST_SUITE_END()
