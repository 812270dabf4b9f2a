// base/csv.hpp: a file is read or rejected with a line number; written cells, guarded or raw, are
// read back unchanged. 0x1f separates the cells of the input.
#include "base/csv.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

#include <sstream>
#include <stdexcept>

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    std::vector<std::string> cells;
    try {
        std::istringstream in{std::string(text)};
        for (CsvReader reader(in); reader.next(cells);) must(!cells.empty() && reader.line() > 0);
    } catch (const std::runtime_error& error) {
        must(std::string_view(error.what()).starts_with("line "));
    }
    const auto written = split(text, '\x1f');
    for (const CsvCells how : {CsvCells::Guarded, CsvCells::Raw}) {
        std::string line = "first";  // so that no cell is read as a byte order mark
        for (const std::string_view cell : written) append_csv_cell(line += ',', cell, how);
        std::istringstream in(line + "\r\n");
        CsvReader reader(in, ',');
        must(reader.next(cells) && cells.size() == written.size() + 1);
        for (std::size_t i = 0; i < written.size(); ++i) {
            const std::string_view read = cells[i + 1];
            must((how == CsvCells::Guarded ? without_csv_guard(read) : read) == written[i]);
        }
        must(!reader.next(cells));
    }
    return 0;
}
