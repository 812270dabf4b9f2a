#include "http/fcgi_records.hpp"

#include <algorithm>

namespace muster::http {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kBeginBytes = 8;
constexpr std::uint16_t kResponder = 1;
constexpr std::size_t kEndBytes = 8;          // all zero: request complete, exit status 0
constexpr std::size_t kMostContent = 65'528;  // of a record; a multiple of 8 needs no padding

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint8_t>(bytes[place]);
}

// Both bytes of a number, the higher one first.
std::uint16_t number_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint16_t>(byte_at(bytes, place) << 8U | byte_at(bytes, place + 1));
}

struct Record {
    RecordHeader header;
    std::string_view content;
};

// Removes the first record. nullopt if bytes are missing.
std::optional<Record> take_record(std::string_view& bytes) {
    if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
    const RecordHeader header = header_of(bytes);
    const std::size_t size = kRecordHeaderBytes + header.content + header.padding;
    if (bytes.size() < size) return std::nullopt;
    const Record record{header, bytes.substr(kRecordHeaderBytes, header.content)};
    bytes.remove_prefix(size);
    return record;
}

// The header of a record that is not complete yet must be valid already.
bool may_become(std::string_view bytes, RecordType type) {
    return (bytes.empty() || byte_at(bytes, 0) == kVersion) &&
           (bytes.size() < 2 || byte_at(bytes, 1) == static_cast<std::uint8_t>(type));
}

// Removes a length: one byte, or four whose first has its highest bit set. nullopt if the bytes
// end.
std::optional<std::size_t> take_length(std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    const bool is_short = byte_at(bytes, 0) < 0x80;
    const std::size_t size = is_short ? 1 : 4;
    if (bytes.size() < size) return std::nullopt;
    const std::size_t length =
        is_short ? byte_at(bytes, 0)
                 : std::size_t{number_at(bytes, 0) & 0x7fffU} << 16U | number_at(bytes, 2);
    bytes.remove_prefix(size);
    return length;
}

// Removes a name and its value. nullopt if their lengths do not fit.
std::optional<Parameter> take_pair(std::string_view& content) {
    const auto name = take_length(content);
    const auto value = take_length(content);
    if (!name || !value || *name + *value > content.size()) return std::nullopt;
    const Parameter pair{content.substr(0, *name), content.substr(*name, *value)};
    content.remove_prefix(*name + *value);
    return pair;
}

// The names and values fill the content exactly.
bool are_pairs(std::string_view content) {
    while (!content.empty()) {
        const auto pair = take_pair(content);
        if (!pair || pair->name.find('\0') != std::string_view::npos ||
            pair->value.find('\0') != std::string_view::npos) {
            return false;
        }
    }
    return true;
}

bool begins_request(const Record& record) {
    const RecordHeader& header = record.header;
    return header.is_of(RecordType::BeginRequest, header.request_id) && header.request_id != 0 &&
           header.content == kBeginBytes && number_at(record.content, 0) == kResponder;
}

}  // namespace

RecordHeader header_of(std::string_view bytes) {
    return {byte_at(bytes, 0), byte_at(bytes, 1), number_at(bytes, 2), number_at(bytes, 4),
            byte_at(bytes, 6)};
}

bool RecordHeader::is_of(RecordType expected, std::uint16_t request) const {
    return version == kVersion && type == static_cast<std::uint8_t>(expected) &&
           request_id == request;
}

RequestHead read_head(std::string_view bytes) {
    const std::string_view all = bytes;
    if (!may_become(bytes, RecordType::BeginRequest)) return {HeadState::Invalid};
    const auto begin = take_record(bytes);
    if (!begin) return {HeadState::Incomplete};
    if (!begins_request(*begin)) return {HeadState::Invalid};
    RequestHead head{HeadState::Complete, begin->header.request_id};
    while (true) {
        if (!may_become(bytes, RecordType::Params)) return {HeadState::Invalid};
        const auto record = take_record(bytes);
        if (!record) return {HeadState::Incomplete};
        if (!record->header.is_of(RecordType::Params, head.request_id)) return {HeadState::Invalid};
        if (record->content.empty()) break;
        head.pairs += record->content;
    }
    if (!are_pairs(head.pairs)) return {HeadState::Invalid};
    head.size = all.size() - bytes.size();
    return head;
}

Parameters::Parameters(std::string_view pairs) {
    constexpr std::size_t kUsual = 64;
    parameters_.reserve(kUsual);
    while (const auto pair = take_pair(pairs)) parameters_.push_back(*pair);
}

std::optional<std::string_view> Parameters::find(std::string_view name) const {
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [name](const Parameter& one) { return one.name == name; });
    if (found == parameters_.end()) return std::nullopt;
    return found->value;
}

std::vector<std::string_view> Parameters::find_all(std::string_view name) const {
    std::vector<std::string_view> values;
    for (const Parameter& one : parameters_) {
        if (one.name == name) values.push_back(one.value);
    }
    return values;
}

std::vector<std::string_view> Parameters::names() const {
    std::vector<std::string_view> names;
    names.reserve(parameters_.size());
    for (const Parameter& one : parameters_) names.push_back(one.name);
    return names;
}

void ReplyRecords::append_header(RecordType type, std::size_t content) {
    for (const std::size_t byte :
         {std::size_t{kVersion}, static_cast<std::size_t>(type), std::size_t{request_id_} >> 8U,
          std::size_t{request_id_}, content >> 8U, content, std::size_t{0}, std::size_t{0}}) {
        bytes_ += static_cast<char>(byte & 0xffU);
    }
}

void ReplyRecords::append(std::string_view content) {
    while (!content.empty()) {
        const std::string_view piece = content.substr(0, std::min(kMostContent, content.size()));
        append_header(RecordType::Stdout, piece.size());
        bytes_ += piece;
        content.remove_prefix(piece.size());
    }
}

void ReplyRecords::end() {
    append_header(RecordType::Stdout, 0);
    append_header(RecordType::EndRequest, kEndBytes);
    bytes_.append(kEndBytes, '\0');
}

}  // namespace muster::http
