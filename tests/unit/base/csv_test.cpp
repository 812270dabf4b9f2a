// base/csv.hpp: reading CSV files as other programs write them, and reading back the cells of the
// writer.
#include "base/csv.hpp"

#include "print.hpp"

#include <random>
#include <sstream>
#include <string>
#include <vector>

using muster::append_csv_cell;
using muster::CsvCells;
using muster::CsvReader;
using muster::without_csv_guard;

namespace {

using Record = std::vector<std::string>;
using Records = std::vector<Record>;

Records read_all(const std::string& text, char separator = 0) {
    std::istringstream in(text);
    CsvReader reader(in, separator);
    Records records;
    Record cells;
    while (reader.next(cells)) records.push_back(cells);
    return records;
}

// Cells as <a|b> per record, with control characters escaped.
std::string shown(const Records& records) {
    std::string text;
    for (const Record& record : records) {
        text += '<';
        for (std::size_t i = 0; i < record.size(); ++i) {
            if (i > 0) text += '|';
            for (const char c : record[i]) {
                if (c == '\n')
                    text += "\\n";
                else if (c == '\r')
                    text += "\\r";
                else if (c == '\t')
                    text += "\\t";
                else
                    text += c;
            }
        }
        text += '>';
    }
    return text;
}

struct Read {
    std::string input;
    std::string records;
};

void check(const std::vector<Read>& table) {
    for (const Read& row : table) {
        BOOST_TEST_CONTEXT("input <" << row.input << ">") {
            BOOST_TEST(shown(read_all(row.input)) == row.records);
        }
    }
}

std::string refusal(const std::string& text) {
    try {
        read_all(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

std::string cell(std::string_view text, CsvCells cells) {
    std::string to;
    append_csv_cell(to, text, cells);
    return to;
}

std::string random_cell(std::mt19937& random) {
    static const std::vector<std::string> kPieces = {
        "a",      "bc",     "\"",     "\"\"",       ",",
        ";",      "\t",     "\r",     "\n",         "\r\n",
        " ",      "'",      "=",      "+",          "-",
        "@",      "\\",     "\u00eb", "\U0001f600", std::string(1, '\0'),
        "\uff1d", "\uff0b", "\uff0d", "\uff20",
    };
    std::string text;
    for (std::size_t count = random() % 8; count > 0; --count) {
        text += kPieces[random() % kPieces.size()];
    }
    return text;
}

// A stream whose disk fails after the first bytes.
class FailingBuffer : public std::streambuf {
  protected:
    int_type underflow() override {
        if (given_) throw std::runtime_error("input/output error");
        given_ = true;
        setg(text_, text_, text_ + sizeof text_ - 1);
        return traits_type::to_int_type(*gptr());
    }

  private:
    bool given_ = false;
    char text_[9] = "a,b\nc,d\n";
};

}  // namespace

BOOST_AUTO_TEST_SUITE(csv)

BOOST_AUTO_TEST_CASE(records_are_lines_of_cells) {
    check({
        {"", ""},
        {"a", "<a>"},
        {"a\n", "<a>"},
        {"a,b", "<a|b>"},
        {"a,b\r\nc,d\r\n", "<a|b><c|d>"},
        {"a,b\r\nc,d", "<a|b><c|d>"},
        {"a,,c\n", "<a||c>"},
        {",\n", "<|>"},
        {",", "<|>"},
        {"a,\n", "<a|>"},
        {"a,", "<a|>"},
        {",a", "<|a>"},
        {",,,\n", "<|||>"},
        {"a,b\nc\nd,e,f\n", "<a|b><c><d|e|f>"},
        {" a , b \n", "< a | b >"},
    });
}

BOOST_AUTO_TEST_CASE(a_line_ends_with_crlf_lf_or_cr) {
    check({
        {"a,b\nc,d\n", "<a|b><c|d>"},
        {"a,b\rc,d\r", "<a|b><c|d>"},
        {"a,b\r\nc,d\ne,f\rg,h", "<a|b><c|d><e|f><g|h>"},
        {"a\r\rb", "<a><b>"},
        {"a,\r\nb", "<a|><b>"},
    });
}

BOOST_AUTO_TEST_CASE(blank_lines_are_skipped) {
    check({
        {"\n", ""},
        {"\r\n\r\n", ""},
        {"\n\na,b\n\n\nc,d\n\n", "<a|b><c|d>"},
        {"\r\n\r\na;b\r\n\r\n", "<a|b>"},
        {"a\n\"\"\nb\n", "<a><><b>"},
        {"a\n \nb\n", "<a>< ><b>"},
    });
}

BOOST_AUTO_TEST_CASE(quotes_hold_separators_line_ends_and_doubled_quotes) {
    check({
        {"\"a\",\"b\"\n", "<a|b>"},
        {"\"a,b\",c", "<a,b|c>"},
        {"\"a\nb\",c\n", "<a\\nb|c>"},
        {"\"a\r\nb\",c\n", "<a\\r\\nb|c>"},
        {"\"a\rb\",c\n", "<a\\rb|c>"},
        {"\"a\"\"b\",c\n", "<a\"b|c>"},
        {"\"\"\"\",c\n", "<\"|c>"},
        {"\"\"\"a\"\"\",c\n", "<\"a\"|c>"},
        {"\"\",\"\"\n", "<|>"},
        {"\"\"", "<>"},
        {"a,\"\"", "<a|>"},
        {"\"\n\n\n\"\n", "<\\n\\n\\n>"},
        {"\"a\"\r\"b\"\r\n\"c\"", "<a><b><c>"},
    });
}

BOOST_AUTO_TEST_CASE(a_quote_within_a_cell_is_a_character) {
    check({
        {"5\" pipe,x\n", "<5\" pipe|x>"},
        {"a\"b\",c\n", "<a\"b\"|c>"},
        {" \"a\",b\n", "< \"a\"|b>"},
        {"a,b\"\n", "<a|b\">"},
    });
}

BOOST_AUTO_TEST_CASE(an_unterminated_quote_is_reported_with_its_line) {
    BOOST_TEST(refusal("a,b\n\"c,d\n") == "line 2: a quote without a closing quote");
    BOOST_TEST(refusal("\"") == "line 1: a quote without a closing quote");
    BOOST_TEST(refusal("a\n\nb,\"c\nd\ne\n") == "line 3: a quote without a closing quote");
    BOOST_TEST(refusal("\"a\"\"") == "line 1: a quote without a closing quote");
    BOOST_TEST(refusal("\"" + std::string(300U << 10U, 'x')) ==
               "line 1: a quote without a closing quote");
}

BOOST_AUTO_TEST_CASE(text_after_a_closing_quote_is_reported_with_its_line) {
    BOOST_TEST(refusal("\"a\"b\n") == "line 1: text after a closing quote");
    BOOST_TEST(refusal("a,b\n\"c\" ,d\n") == "line 2: text after a closing quote");
    BOOST_TEST(refusal("a\n\"b\n\nc\"d\n") == "line 4: text after a closing quote");
    BOOST_TEST(refusal("a,b\n\"c\";d\n") == "line 2: text after a closing quote");
}

BOOST_AUTO_TEST_CASE(a_failing_stream_is_not_an_end_of_file) {
    FailingBuffer buffer;
    std::istream in(&buffer);
    CsvReader reader(in);
    Record cells;
    const auto read = [&] {
        while (reader.next(cells)) continue;
    };
    BOOST_CHECK_THROW(read(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_removed_from_the_first_cell) {
    check({
        {"\xef\xbb\xbf", ""},
        {"\xef\xbb\xbf"
         "a,b\n",
         "<a|b>"},
        {"\xef\xbb\xbf\"a\",b\n", "<a|b>"},
        {"\xef\xbb\xbf\r\na;b\n", "<a|b>"},
        {"\xef\xbb", "<\xef\xbb>"},
        {"a,\xef\xbb\xbf"
         "b\n",
         "<a|\xef\xbb\xbf"
         "b>"},
    });
}

BOOST_AUTO_TEST_CASE(the_separator_is_the_most_frequent_outside_quotes_in_the_first_record) {
    const std::vector<std::pair<std::string, char>> table = {
        {"", ','},
        {"a\n", ','},
        {"a,b\n", ','},
        {"a;b\n", ';'},
        {"a\tb\n", '\t'},
        {"a;b;c,d\n", ';'},
        {"a,b,c;d\n", ','},
        {"a;b,c\n", ','},
        {"a\tb;c\n", ';'},
        {"a\tb\tc;d\n", '\t'},
        {"\"a,b,c\";d\n", ';'},
        {"\"a,b\nc,d\";e\n", ';'},
        {"\"a\"\",,,\"\"b\";c\n", ';'},
        {"\"a\"\"\";\"b,,,\"\n", ';'},
        {"5\",6\";a;b\n", ';'},
        {"a;b\nc,d,e,f\n", ';'},
        {"\n\n\na\tb\nc,d,e\n", '\t'},
        {"a\rb;c;d\n", ','},
        {"\"a;b;c", ','},
    };
    for (const auto& [text, separator] : table) {
        BOOST_TEST_CONTEXT("input <" << text << ">") {
            std::istringstream in(text);
            CsvReader reader(in);
            Record cells;
            try {
                (void)reader.next(cells);
            } catch (const std::runtime_error&) {  // the unterminated quote
            }
            BOOST_TEST(reader.separator() == separator);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_first_record_of_many_blocks_is_read_completely) {
    std::string text = "\"" + std::string(200000, ',') + "\"";
    for (int i = 0; i < 100; ++i) text += ";column " + std::to_string(i);
    const Records records = read_all(text + "\n");
    BOOST_TEST_REQUIRE(records.size() == 1U);
    BOOST_TEST(records[0].size() == 101U);
    BOOST_TEST(records[0][0].size() == 200000U);
    BOOST_TEST(records[0][100] == "column 99");
}

BOOST_AUTO_TEST_CASE(a_given_separator_is_not_guessed) {
    BOOST_TEST(shown(read_all("a,b;c,d\n", ';')) == "<a,b|c,d>");
    BOOST_TEST(shown(read_all("a;b;c\n", ',')) == "<a;b;c>");
    BOOST_TEST(shown(read_all("a|b\n", '|')) == "<a|b>");
}

BOOST_AUTO_TEST_CASE(a_record_reports_its_first_line) {
    std::istringstream in("a,b\n\n\"c\r\nd\",e\rf,\"\n\n\n\"\r\ng,h");
    CsvReader reader(in);
    Record cells;
    std::vector<std::size_t> lines;
    while (reader.next(cells)) lines.push_back(reader.line());
    const std::vector<std::size_t> expected = {1, 3, 5, 9};
    BOOST_TEST(lines == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_alone_does_not_count_as_a_line) {
    std::istringstream in(
        "\xef\xbb\xbf"
        "a,b\nc,d\n");
    CsvReader reader(in);
    Record cells;
    BOOST_TEST(reader.next(cells));
    BOOST_TEST(reader.line() == 1U);
}

BOOST_AUTO_TEST_CASE(reading_past_the_end_stays_at_the_end) {
    std::istringstream in("a,b\n");
    CsvReader reader(in);
    Record cells;
    BOOST_TEST(reader.next(cells));
    BOOST_TEST(!reader.next(cells));
    BOOST_TEST(cells.empty());
    BOOST_TEST(!reader.next(cells));
}

BOOST_AUTO_TEST_CASE(records_may_be_split_by_a_block_boundary_at_any_byte) {
    const std::string tail = "x\r\n\"a\"\"b\r\nc\",d\r\n\r\ne,f\n";
    for (std::size_t shift = 0; shift < 40; ++shift) {
        const std::size_t head = (64U << 10U) - shift;
        const Records records = read_all(std::string(head, 'h') + "," + tail);
        BOOST_TEST_REQUIRE(records.size() == 3U);
        BOOST_TEST(records[0][0].size() == head);
        BOOST_TEST(records[0][1] == "x");
        BOOST_TEST(shown({records[1], records[2]}) == "<a\"b\\r\\nc|d><e|f>");
    }
}

BOOST_AUTO_TEST_CASE(any_bytes_are_read_unchanged) {
    std::string bytes;
    for (int c = 1; c < 256; ++c) {
        if (c != '"' && c != ',' && c != '\r' && c != '\n') bytes += static_cast<char>(c);
    }
    const std::string with_nul = "x" + std::string(1, '\0') + bytes;
    const Records records = read_all(with_nul + ",y\n", ',');
    BOOST_TEST_REQUIRE(records.size() == 1U);
    BOOST_TEST(records[0][0] == with_nul);
    BOOST_TEST(records[0][1] == "y");
}

BOOST_AUTO_TEST_CASE(a_cell_is_quoted_where_a_program_could_split_it) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", ""},
        {"a", "a"},
        {"a b", "a b"},
        {" a ", "\" a \""},
        {"a ", "a "},
        {"a;b", "\"a;b\""},
        {"a\tb", "\"a\tb\""},
        {"a;=cmd|' /C calc'!A0;b", "\"a;=cmd|' /C calc'!A0;b\""},
        {"a,b", "\"a,b\""},
        {"a\"b", "\"a\"\"b\""},
        {"\"", "\"\"\"\""},
        {"a\nb", "\"a\nb\""},
        {"a\rb", "\"a\rb\""},
        {"a\r\nb", "\"a\r\nb\""},
        {"\u00eb", "\u00eb"},
        {R"({"a":"b"})", R"("{""a"":""b""}")"},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(cell(text, CsvCells::Raw) == expected);
        BOOST_TEST(cell(text, CsvCells::Guarded) == expected);
    }
    std::string to = "x,";
    append_csv_cell(to, "y", CsvCells::Raw);
    BOOST_TEST(to == "x,y");
}

BOOST_AUTO_TEST_CASE(a_cell_that_a_spreadsheet_would_execute_is_guarded) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"=1+1", "'=1+1"},
        {"+49 30 1", "'+49 30 1"},
        {"-1", "'-1"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\tx", "\"'\tx\""},
        {"\rx", "\"'\rx\""},
        {"'x", "''x"},
        {"'", "''"},
        {"=", "'="},
        {"=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""},
        {"a=1", "a=1"},
        {"ann@example.com", "ann@example.com"},
        {" =1", "\"' =1\""},
        {"1-1", "1-1"},
        {"\n=1", "\"'\n=1\""},
        {"  'x", "\"'  'x\""},
        {"\uff1d1", "'\uff1d1"},
        {"\uff0b1", "'\uff0b1"},
        {"\uff0d1", "'\uff0d1"},
        {"\uff201", "'\uff201"},
        {"\uff011", "\uff011"},
        {" ", "\" \""},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(cell(text, CsvCells::Guarded) == expected);
    }
    BOOST_TEST(cell("=1+1", CsvCells::Raw) == "=1+1");
    BOOST_TEST(cell("'x", CsvCells::Raw) == "'x");
}

BOOST_AUTO_TEST_CASE(only_a_guard_is_removed) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"'=1", "=1"},
        {"'+1", "+1"},
        {"'-1", "-1"},
        {"'@x", "@x"},
        {"'\tx", "\tx"},
        {"'\rx", "\rx"},
        {"''", "'"},
        {"''x", "'x"},
        {"'''", "''"},
        {"'", "'"},
        {"'x", "'x"},
        {"", ""},
        {"x", "x"},
        {"=1", "=1"},
        {"x'=1", "x'=1"},
        {"' =1", " =1"},
        {"'\uff1d1", "\uff1d1"},
        {"'\uff201", "\uff201"},
        {"' x", "' x"},
        {"' ", "' "},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(without_csv_guard(text) == expected);
    }
}

BOOST_AUTO_TEST_CASE(random_records_are_read_back_unchanged) {
    std::mt19937 random(20261120);
    for (int round = 0; round < 300; ++round) {
        Records written;
        std::string raw;
        std::string guarded;
        const std::string line_end = std::vector<std::string>{"\r\n", "\n", "\r"}[round % 3];
        for (std::size_t row = random() % 20; row > 0; --row) {
            Record record;
            for (std::size_t column = 2 + random() % 10; column > 0; --column) {
                record.push_back(random_cell(random));
                append_csv_cell(raw, record.back(), CsvCells::Raw);
                append_csv_cell(guarded, record.back(), CsvCells::Guarded);
                raw += column == 1 ? line_end : ",";
                guarded += column == 1 ? line_end : ",";
            }
            written.push_back(std::move(record));
        }
        BOOST_TEST_REQUIRE(read_all(raw, ',') == written);
        Records unguarded = read_all(guarded, ',');
        for (Record& record : unguarded) {
            for (std::string& text : record) text = std::string(without_csv_guard(text));
        }
        BOOST_TEST_REQUIRE(unguarded == written);
    }
}

BOOST_AUTO_TEST_CASE(random_bytes_are_read_or_rejected) {
    std::mt19937 random(7);
    constexpr std::string_view kAlphabet = "a\",;\t\r\n'\xef\xbb\xbf ";
    int read = 0;
    for (int round = 0; round < 5000; ++round) {
        std::string text;
        for (std::size_t size = random() % 40; size > 0; --size) {
            text += kAlphabet[random() % kAlphabet.size()];
        }
        try {
            for (const Record& record : read_all(text)) BOOST_TEST_REQUIRE(!record.empty());
            ++read;
        } catch (const std::runtime_error&) {
        }
    }
    BOOST_TEST(read > 500);
}

BOOST_AUTO_TEST_SUITE_END()
