#include "client/file_check.hpp"

#include "client/api_client.hpp"
#include "client/console.hpp"
#include "client/convert.hpp"
#include "client/row_source.hpp"

#include <utility>

namespace muster::client {
namespace {

constexpr std::uint32_t kSampleRows = 1000;

FormatGuess first_guess(const FilePlan& plan) {
    FormatGuess guess(plan.routes, plan.registry, plan.formats, plan.separator);
    RowSource source(plan.file, plan.separator, plan.header);
    std::vector<std::string> cells;
    std::uint32_t number = 0;
    while (number < kSampleRows && source.next(cells, number)) guess.add(cells);
    return guess;
}

// Counts the faults of one record, and writes them to the report.
void take_faults(CheckedFile& checked, const ReportedRow& row, ErrorReport& report) {
    if (row.faults.empty()) return;
    report.add(row);
    if (row.is_rejected) {
        ++checked.refused;
        for (const RowFault& fault : row.faults) {
            if (fault.is_refusal) checked.refusals.add(fault, row.line);
        }
        return;
    }
    ++checked.rows_left_out;
    checked.values_left_out += row.faults.size();
    for (const RowFault& fault : row.faults) checked.left_out.add(fault, row.line);
}

// One reading with these formats. `guess` sees every record.
CheckedFile read_all(const FilePlan& plan, const std::vector<ValueFormat>& formats,
                     ErrorReport& report, FormatGuess& guess, const std::atomic<bool>& stop) {
    CheckedFile checked;
    checked.converter = std::make_shared<Converter>(
        Converter::Setup{plan.routes, formats, plan.today, plan.rejects_bad_values}, plan.registry);
    checked.formats = formats;
    RowSource source(plan.file, plan.separator, plan.header);
    report.begin(source.columns(), source.separator());
    std::vector<std::string> cells;
    std::uint32_t number = 0;
    while (source.next(cells, number)) {
        if (stop) throw Stopped();
        ++checked.rows;
        guess.add(cells);
        const Converted converted = checked.converter->convert(cells);
        take_faults(checked,
                    {cells, number, source.line(), converted.is_refused(), converted.faults},
                    report);
    }
    report.flush();
    return checked;
}

}  // namespace

CheckedRecord check_record(const Converter& converter, const std::vector<std::string>& cells) {
    Converted converted = converter.convert(cells);
    const bool is_rejected = converted.is_refused();
    return {std::move(converted.fields.email), std::move(converted.faults), is_rejected};
}

CheckedFile check_file(const FilePlan& plan, ErrorReport& report, const DateQuestion& decide,
                       const std::atomic<bool>& stop) {
    const std::vector<ValueFormat> first = first_guess(plan).formats();
    FormatGuess guess(plan.routes, plan.registry, plan.formats, plan.separator);
    CheckedFile checked = read_all(plan, first, report, guess, stop);
    const FormatGuess::Ambiguity ambiguity = guess.ambiguity();
    if (!ambiguity.column.empty()) guess.decide(decide(ambiguity));
    const std::vector<ValueFormat> formats = guess.formats();
    if (formats != first) {
        FormatGuess again = guess;
        checked = read_all(plan, formats, report, again, stop);
    }
    return checked;
}

std::string faults_text(const CheckedFile& checked, const std::string& errors_file) {
    std::string text;
    if (checked.refused > 0) {
        text = grouped(checked.refused) + " of " + counted(checked.rows, "row") +
               (checked.refused == 1 ? " is" : " are") + " rejected and written to " + errors_file +
               ":" + checked.refusals.text();
    }
    if (checked.values_left_out == 0) return text;
    text += (text.empty() ? "" : "\n") + grouped(checked.values_left_out) +
            (checked.values_left_out == 1 ? " value is" : " values are") +
            " left out, and written to " + errors_file +
            ". The rest of each row is imported (--reject-bad-values rejects the row):" +
            checked.left_out.text();
    return text;
}

}  // namespace muster::client
