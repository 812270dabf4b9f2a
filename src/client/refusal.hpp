// The reason to reject a record.
#pragma once

#include <string>

namespace muster::client {

// Why a record is not sent. muster-import(1) lists the codes, such as "LOCAL_INVALID_EMAIL".
struct Refusal {
    std::string code;
    std::string message;
    std::string column;  // "" where the record as a whole is refused
    bool operator==(const Refusal&) const = default;
};

}  // namespace muster::client
