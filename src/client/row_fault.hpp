// A fault of one record: of a value, or of the record as a whole.
#pragma once

#include <string>

namespace muster::client {

struct RowFault {
    std::string code;    // muster-import(1) lists them: "LOCAL_INVALID_EMAIL"
    std::string column;  // "" where the record as a whole is meant
    std::string found;   // `is "04/17"`, fit for a terminal; equal faults may differ in it
    std::string rule;    // "a date needs a year"; equal for equal faults
    // The record is not sent. Otherwise it is sent without the value.
    bool is_refusal = false;

    // `Birthday is "04/17"; a date needs a year`
    [[nodiscard]] std::string message() const;
    bool operator==(const RowFault&) const = default;
};

}  // namespace muster::client
