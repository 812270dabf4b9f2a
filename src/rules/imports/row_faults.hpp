// The faults of a malformed row that was kept as invalid. They are packed into its attributes, so
// that it has the same form in a block as other rows. Packed text is not JSON: code that takes it
// for attributes finds them invalid.
#pragma once

#include "base/faults.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

inline constexpr std::size_t kMostRowFaults = 10;

struct RowFault {
    std::string path;  // in the payload: "country", "attributes.phone"
    FieldCode code = FieldCode::InvalidValue;

    bool operator==(const RowFault&) const = default;
};

// Whether the attributes of a row hold packed faults.
[[nodiscard]] bool holds_faults(std::string_view attributes);

struct KeptFaults {
    std::vector<RowFault> faults;
    std::string_view attributes;  // JSON text of those that are well-formed; "" = none
};
// Packs the first kMostRowFaults faults.
[[nodiscard]] std::string pack_faults(std::vector<RowFault> faults, std::string_view attributes);
// Attributes without faults are returned as they are. Throws CorruptBlock.
[[nodiscard]] KeptFaults unpack_faults(std::string_view attributes);

// "country is too long; email is required" for a person.
[[nodiscard]] std::string row_faults_message(const std::vector<RowFault>& faults);

}  // namespace muster::rules
