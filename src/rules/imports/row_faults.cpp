#include "rules/imports/row_faults.hpp"

#include "rules/imports/block_bytes.hpp"

namespace muster::rules {
namespace {

constexpr char kFaultsMark = '\x01';

void append_text(std::string& to, std::string_view text) {
    append_varint(to, text.size());
    to += text;
}

}  // namespace

bool holds_faults(std::string_view attributes) {
    return attributes.starts_with(kFaultsMark);
}

std::string pack_faults(std::vector<RowFault> faults, std::string_view attributes) {
    if (faults.size() > kMostRowFaults) faults.resize(kMostRowFaults);
    std::string packed(1, kFaultsMark);
    append_varint(packed, faults.size());
    for (const RowFault& fault : faults) {
        append_text(packed, field_code_text(fault.code));
        append_text(packed, fault.path);
    }
    return packed.append(attributes);
}

KeptFaults unpack_faults(std::string_view attributes) {
    if (!holds_faults(attributes)) return {{}, attributes};
    BlockReader reader(attributes.substr(1));
    KeptFaults kept;
    const std::size_t count = reader.varint();
    if (count > kMostRowFaults) throw CorruptBlock();
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view code = reader.take(reader.varint());
        const std::string_view path = reader.take(reader.varint());
        // A later version may know more codes.
        kept.faults.push_back(
            {std::string(path), parse_field_code(code).value_or(FieldCode::InvalidValue)});
    }
    kept.attributes = reader.rest();
    return kept;
}

std::string row_faults_message(const std::vector<RowFault>& faults) {
    std::string message;
    for (const RowFault& fault : faults) {
        if (!message.empty()) message += "; ";
        message.append(fault.path).append(" ").append(field_code_message(fault.code));
    }
    return message;
}

}  // namespace muster::rules
