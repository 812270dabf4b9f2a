// client/input_file.hpp, row_source.hpp, encoding.hpp, byte_streams.hpp: files in any encoding.
#include "client/input_file.hpp"

#include "base/command_line.hpp"
#include "client/encoding.hpp"
#include "client/row_source.hpp"
#include "client/stopped.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <thread>

using namespace muster;
using namespace muster::client;

namespace {

const std::atomic<bool> kGoesOn{false};

constexpr std::string_view kMembers = "E-Mail;Vorname\r\nj@example.org;Jürgen €\r\n";

std::string utf16(std::string_view ascii, bool big_endian, bool with_mark) {
    std::string text;
    const auto append = [&](char high, char low) {
        text += big_endian ? high : low;
        text += big_endian ? low : high;
    };
    if (with_mark) append('\xFE', '\xFF');
    for (const char c : ascii) append('\0', c);
    return text;
}

std::string gzip(std::string_view text) {
    z_stream stream{};
    BOOST_REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(text.size() + 200, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    BOOST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

// The records of a file as "E-Mail|Vorname / j@example.org|Jürgen".
std::string records(const std::string& path, const std::string& encoding = "",
                    Header header = Header::Guess) {
    const InputFile file(path, encoding, kGoesOn);
    RowSource source(file, 0, header);
    std::string text;
    const auto append = [&](const std::vector<std::string>& cells) {
        if (!text.empty()) text += " / ";
        for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "|" : "") + cells[i];
    };
    append(source.columns());
    std::vector<std::string> cells;
    std::uint32_t number = 0;
    while (source.next(cells, number)) append(cells);
    return text;
}

std::string encoding_of(const std::string& text) {
    const test::Scratch scratch;
    return InputFile(scratch.write("f", text), "", kGoesOn).encoding();
}

std::string refusal(const std::string& content, const std::string& encoding = "") {
    const test::Scratch scratch;
    try {
        return records(scratch.write("f.csv", content), encoding);
    } catch (const UsageError& error) {
        const std::string_view text = error.what();
        const auto name = text.find("f.csv");
        return std::string(name == text.npos ? text : text.substr(name + 5));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_input_file)

BOOST_AUTO_TEST_CASE(the_encoding_is_found_from_the_bytes) {
    for (const auto& [text, encoding] : std::initializer_list<std::pair<std::string, const char*>>{
             {"Email\n", "UTF-8"},
             {"\xEF\xBB\xBF"
              "Email\n",
              "UTF-8"},
             {"Email\nJürgen €\n", "UTF-8"},
             {"J\xFCrgen\n", "windows-1252"},
             {"J\xFCrgen \x80 \x96\n", "windows-1252"},
             {"J\xFCrgen 1\xBD\n", "windows-1252"},
             {"J\xFCrgen 5 \xA4\n", "ISO-8859-15"},
             {"s\xBDur J\xFCrgen\n", "ISO-8859-15"},
             {"Jürgen Österreich äöü und ein \xFC\n", "UTF-8"},  // one damaged cell
             {utf16("Email\nx\n", false, true), "UTF-16LE"},
             {utf16("Email\nx\n", true, true), "UTF-16BE"},
             {utf16("Email\nx\n", false, false), "UTF-16LE"},
             {utf16("Email\nx\n", true, false), "UTF-16BE"},
         }) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_TEST(encoding_of(text) == encoding);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_character_may_lie_across_two_parts_of_the_file) {
    EncodingDetector detector;
    for (const char c : std::string_view("Jürgen €")) detector.add({&c, 1});
    BOOST_TEST(detector.name() == "UTF-8");
    EncodingDetector latin;
    for (const char c : std::string_view("J\xFCrgen")) latin.add({&c, 1});
    BOOST_TEST(latin.name() == "windows-1252");
    const test::Scratch scratch;  // a euro sign at each place around the size of the buffers
    for (const int filler : {65'530, 65'531, 65'532, 65'533, 65'534, 65'535, 65'536}) {
        const std::string text = "Email\n" + std::string(filler, 'x') + "\x80\n";
        BOOST_TEST(records(scratch.write("f", text)) ==
                   "Email / " + std::string(filler, 'x') + "€");
    }
}

BOOST_AUTO_TEST_CASE(text_of_every_encoding_is_read) {
    const test::Scratch scratch;
    const std::string read = "E-Mail|Vorname / j@example.org|Jürgen €";
    BOOST_TEST(records(scratch.write("a", std::string(kMembers))) == read);
    BOOST_TEST(records(scratch.write("b", "E-Mail;Vorname\nj@example.org;J\xFCrgen \x80\n")) ==
               read);
    BOOST_TEST(records(scratch.write("c", "E-Mail;Vorname\nj@example.org;J\xFCrgen \xA4\n")) ==
               read);
    BOOST_TEST(records(scratch.write("d", "E-Mail;Vorname\nj@example.org;J\x81rgen \xD5\n"),
                       "cp858") == read);
    BOOST_TEST(records(scratch.write("e", utf16("Email\tNr\r\na@example.org\t1\r\n", false,
                                                true))) == "Email|Nr / a@example.org|1");
    BOOST_TEST(records(scratch.write("f", utf16("Email\tNr\r\na@example.org\t1\r\n", true,
                                                false))) == "Email|Nr / a@example.org|1");
}

BOOST_AUTO_TEST_CASE(a_byte_outside_the_encoding_damages_only_its_cell) {
    const test::Scratch scratch;
    const std::string text = records(scratch.write("f", "Email;N\na@example.org;J\xFC\x81r\n"));
    BOOST_TEST(text == "Email|N / a@example.org|Jü\xFFr");
}

BOOST_AUTO_TEST_CASE(a_character_that_is_cut_off_at_the_end_damages_its_cell) {
    const test::Scratch scratch;
    BOOST_TEST(records(scratch.write("f", "Email,N\na@example.org,\x82\xA0\x82"), "Shift_JIS") ==
               "Email|N / a@example.org|あ\xFF");
    BOOST_TEST(records(scratch.write("g", utf16("Email\na@example.org", false, true) + "x")) ==
               "Email / a@example.org\xFF");
}

BOOST_AUTO_TEST_CASE(a_carriage_return_alone_ends_a_line_only_if_it_ends_the_first_one) {
    const test::Scratch scratch;
    const std::string read = "Email|N / a@example.org|B C / b@example.org|D";
    for (const std::string end : {"\n", "\r\n"}) {
        BOOST_TEST(records(scratch.write("a", "Email,N" + end + "a@example.org,B\rC" + end +
                                                  "b@example.org,D" + end)) == read);
    }
    BOOST_TEST(records(scratch.write("b", "Email,N\ra@example.org,B C\rb@example.org,D\r")) ==
               read);
    BOOST_TEST(records(scratch.write("c", "Email,\"N\n1\"\ra@example.org,B\rb@example.org,D\r")) ==
               "Email|N 1 / a@example.org|B / b@example.org|D");
    BOOST_TEST(records(scratch.write("d", "Email,N\na@example.org,\"B\rC\"\n")) ==
               "Email|N / a@example.org|B\rC");
    BOOST_TEST(records(scratch.write("e", utf16("Email,N\r\na@example.org,B\rC\r\n", false,
                                                true))) == "Email|N / a@example.org|B C");
    // At each place around the size of the buffers.
    for (const int filler : {65'510, 65'511, 65'512, 65'513, 65'514, 65'515, 65'516}) {
        const std::string text(filler, 'x');
        BOOST_TEST(records(scratch.write("f", "Email,N\r\na@example.org," + text + "\r\nb,\r\n")) ==
                   "Email|N / a@example.org|" + text + " / b|");
        BOOST_TEST(
            records(scratch.write("g", "Email,N\r\na@example.org," + text + "\r.\r\nb,\r\n")) ==
            "Email|N / a@example.org|" + text + " . / b|");
    }
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_reading_of_a_file_without_records) {
    const test::Scratch scratch;
    const std::string path = scratch.write("f.csv.gz", gzip(std::string(1'000'000, '\n')));
    std::atomic<bool> stop{true};
    BOOST_CHECK_THROW(InputFile(path, "", stop), Stopped);
    stop = false;
    const InputFile file(path, "", stop);
    stop = true;
    BOOST_CHECK_THROW(RowSource(file, 0, Header::Guess), Stopped);
}

BOOST_AUTO_TEST_CASE(gzip_is_found_from_the_bytes) {
    const test::Scratch scratch;
    const std::string read = "E-Mail|Vorname / j@example.org|Jürgen €";
    BOOST_TEST(records(scratch.write("a.csv", gzip(kMembers))) == read);
    const std::string members = gzip(kMembers.substr(0, 20)) + gzip(kMembers.substr(20));
    BOOST_TEST(records(scratch.write("b.csv", members)) == read);
    const std::string packed = gzip(kMembers);
    BOOST_TEST(refusal(packed.substr(0, packed.size() / 2)) ==
               " cannot be read: its gzip data ends too early");
    std::string damaged = packed;
    damaged[15] = static_cast<char>(~damaged[15]);
    BOOST_TEST(refusal(damaged).starts_with(" cannot be read: its gzip data"));
    BOOST_TEST(refusal(gzip(std::string(200'000, '\0'))) == " is not a text file");
}

BOOST_AUTO_TEST_CASE(gzip_data_may_have_only_some_of_it_without_content) {
    constexpr std::string_view kEmptyBlock("\0\0\0\xFF\xFF", 5);
    const std::string packed = gzip(kMembers);
    const auto with_empty_blocks = [&](int count) {
        std::string text = packed.substr(0, 10);  // the header
        for (int i = 0; i < count; ++i) text += kEmptyBlock;
        return text + packed.substr(10);
    };
    const test::Scratch scratch;
    BOOST_TEST(records(scratch.write("a.csv", with_empty_blocks(200'000))) ==
               "E-Mail|Vorname / j@example.org|Jürgen €");
    BOOST_TEST(refusal(with_empty_blocks(250'000)) ==
               " cannot be read: its gzip data has more than 1 MiB without content");
}

BOOST_AUTO_TEST_CASE(a_value_may_have_a_nul) {
    const test::Scratch scratch;
    const std::string value("Ann\0x", 5);
    BOOST_TEST(records(scratch.write("a.csv", "Email,Name\r\na@example.org," + value + "\r\n")) ==
               "Email|Name / a@example.org|" + value);
    BOOST_TEST(refusal("\x89PNG\r\n" + value + "\r\n") == " is not a text file");
}

BOOST_AUTO_TEST_CASE(a_line_that_names_the_separator_is_skipped) {
    const test::Scratch scratch;
    for (const char* start : {"sep=|\r\n", "SEP=|\n", "\xEF\xBB\xBFsep=|\r\n", "\"sep=|\"\r\n"}) {
        BOOST_TEST_CONTEXT(start) {
            const InputFile file(scratch.write("f", start + std::string("Email|N\na,b|c\n")), "",
                                 kGoesOn);
            RowSource source(file, 0, Header::Guess);
            std::vector<std::string> cells;
            std::uint32_t number = 0;
            BOOST_TEST(source.next(cells, number));
            BOOST_TEST(source.separator() == '|');
            BOOST_TEST(source.line() == 3U);
            BOOST_TEST(cells[0] == "a,b");
        }
    }
    BOOST_TEST(records(scratch.write("g", "sep,Email\n1,2\n")) == "sep|Email / 1|2");
    const InputFile named(scratch.write("h", "sep=;\nEmail\n"), "", kGoesOn);
    BOOST_TEST(RowSource(named, ',', Header::Guess).separator() == ',');
}

BOOST_AUTO_TEST_CASE(other_kinds_of_files_are_named_with_what_to_do) {
    for (const auto& [content, words] : std::initializer_list<std::pair<std::string, const char*>>{
             {"PK\x03\x04....[Content_Types].xml", "an Excel workbook (.xlsx), not CSV; save it"},
             {"PK\x03\x04....members.csv", "a ZIP archive, not CSV; unpack it"},
             {"PK\x03\x04....application/vnd.oasis.opendocument.spreadsheet", "OpenDocument"},
             {"\xD0\xCF\x11\xE0....", "an Excel workbook (.xls)"},
             {"%PDF-1.7", "a PDF document"},
             {"BZh9", "bunzip2"},
             {"<html><table>", "an HTML page"},
             {R"({"members":[]})", "a JSON document, not CSV; convert it to CSV"},
             {"{\n  \"members\": [\n", "a JSON document"},
             {R"([{"email":"a@example.org"}])", "a JSON document"},
             {"\xEF\xBB\xBF[\r\n  {\r\n    \"email\": \"a\"", "a JSON document"},
             {"[{}]", "a JSON document"},
             {std::string("\xFF\xFE\0\0E\0\0\0", 8),
              "is UTF-32, an encoding that is not supported"},
             {std::string("\0\0\xFE\xFF\0\0\0E", 8), "convert it to UTF-8"},
             {std::string("Email\0a", 7), "is not a text file"},
             {"", "is empty"},
             {"\n\n", "is empty"},
         }) {
        BOOST_TEST_CONTEXT(words) {
            BOOST_TEST(refusal(content).find(words) != std::string::npos, refusal(content));
        }
    }
    BOOST_TEST(refusal("[Email],[Name]\n").empty() == false);
    BOOST_TEST(refusal("[Email],[Name]\na@example.org,Ann\n") ==
               "[Email]|[Name] / a@example.org|Ann");
    BOOST_TEST(refusal("[{Email}],N\na@example.org,Ann\n") == "[{Email}]|N / a@example.org|Ann");
    BOOST_TEST(refusal("{Email},N\na@example.org,Ann\n") == "{Email}|N / a@example.org|Ann");
    BOOST_TEST(refusal("Email\n", "klingon").starts_with("--encoding klingon is unknown; use"));
}

BOOST_AUTO_TEST_CASE(a_pipe_is_copied_to_a_private_file) {
    const test::Scratch scratch;
    const std::string path = scratch.file("pipe");
    BOOST_REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    std::jthread writer([&] {
        std::ofstream out(path);
        out << "Email\n";
        for (int i = 0; i < 20'000; ++i) out << "m" << i << "@example.org\n";
    });
    const std::string text = records(path);
    BOOST_TEST(text.ends_with(" / m19999@example.org"));
}

BOOST_AUTO_TEST_CASE(a_first_record_with_an_address_is_a_row) {
    const test::Scratch scratch;
    const std::string path = scratch.write("f", "\nAnn,ann@example.org\nBob,bob@example.org\n");
    BOOST_TEST(records(path) == "column 1|column 2 / Ann|ann@example.org / Bob|bob@example.org");
    const std::string named = scratch.write("g", "Email\na@example.org\n");
    BOOST_TEST(records(named) == "Email / a@example.org");
    BOOST_TEST(records(named, "", Header::None) == "column 1 / Email / a@example.org");
}

BOOST_AUTO_TEST_CASE(a_cell_and_a_record_are_bounded) {
    BOOST_TEST(refusal("Email\n\"" + std::string(2 << 20, 'x') + "\n")
                   .find("is a closing quote missing?") != std::string::npos);
    BOOST_TEST(refusal("Email\n" + std::string(2 << 20, 'x') + "\n").find("more than 1 MiB") !=
               std::string::npos);
    BOOST_TEST(refusal("Email\n" + std::string(20'000, ',') + "\n").find("16,384 cells") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
