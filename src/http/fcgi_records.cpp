#include "http/fcgi_records.hpp"

#include <algorithm>
#include <optional>

namespace muster::http {
namespace {

constexpr std::size_t kHeaderBytes = ReplyRecords::kHeaderBytes;
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBeginRequest = 1;
constexpr std::uint8_t kEndRequest = 3;
constexpr std::uint8_t kParams = 4;
constexpr std::uint8_t kStdin = 5;
constexpr std::uint8_t kStdout = 6;
constexpr std::size_t kBeginBytes = 8;
constexpr std::uint8_t kResponder = 1;
constexpr std::size_t kEndBytes = 8;          // all zero: request complete, exit status 0
constexpr std::size_t kMostContent = 65'528;  // of a record; a multiple of 8 needs no padding

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint8_t>(bytes[place]);
}

// Both bytes of a number, the higher one first.
std::size_t number_at(std::string_view bytes, std::size_t place) {
    return std::size_t{byte_at(bytes, place)} << 8U | byte_at(bytes, place + 1);
}

struct Record {
    std::uint8_t version = 0;
    std::uint8_t type = 0;
    std::size_t request_id = 0;
    std::string_view content;
};

// Removes the first record. nullopt if bytes are missing.
std::optional<Record> take_record(std::string_view& bytes) {
    if (bytes.size() < kHeaderBytes) return std::nullopt;
    const std::size_t content = number_at(bytes, 4);
    const std::size_t padding = byte_at(bytes, 6);
    if (bytes.size() < kHeaderBytes + content + padding) return std::nullopt;
    const Record record{byte_at(bytes, 0), byte_at(bytes, 1), number_at(bytes, 2),
                        bytes.substr(kHeaderBytes, content)};
    bytes.remove_prefix(kHeaderBytes + content + padding);
    return record;
}

// The header of a record that is not complete yet must be valid already.
bool may_become(std::string_view bytes, std::uint8_t type) {
    return (bytes.empty() || byte_at(bytes, 0) == kVersion) &&
           (bytes.size() < 2 || byte_at(bytes, 1) == type);
}

// Removes a length: one byte, or four whose first has its highest bit set. nullopt if the bytes
// end.
std::optional<std::size_t> take_length(std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    const bool is_short = byte_at(bytes, 0) < 0x80;
    const std::size_t size = is_short ? 1 : 4;
    if (bytes.size() < size) return std::nullopt;
    const std::size_t length =
        is_short ? byte_at(bytes, 0) : (number_at(bytes, 0) & 0x7fff) << 16U | number_at(bytes, 2);
    bytes.remove_prefix(size);
    return length;
}

// The names and values fill the content exactly.
bool are_pairs(std::string_view content) {
    while (!content.empty()) {
        const auto name = take_length(content);
        const auto value = take_length(content);
        if (!name || !value || *name + *value > content.size()) return false;
        content.remove_prefix(*name + *value);
    }
    return true;
}

bool begins_request(const Record& record) {
    return record.version == kVersion && record.type == kBeginRequest && record.request_id != 0 &&
           record.content.size() == kBeginBytes && number_at(record.content, 0) == kResponder;
}

bool is_params(const Record& record, std::size_t request_id) {
    return record.version == kVersion && record.type == kParams && record.request_id == request_id;
}

}  // namespace

RequestHead check_request_head(std::string_view bytes) {
    if (!may_become(bytes, kBeginRequest)) return RequestHead::Invalid;
    const auto begin = take_record(bytes);
    if (!begin) return RequestHead::Incomplete;
    if (!begins_request(*begin)) return RequestHead::Invalid;
    std::string pairs;
    while (true) {
        if (!may_become(bytes, kParams)) return RequestHead::Invalid;
        const auto record = take_record(bytes);
        if (!record) return RequestHead::Incomplete;
        if (!is_params(*record, begin->request_id)) return RequestHead::Invalid;
        if (record->content.empty()) break;
        pairs += record->content;
    }
    return are_pairs(pairs) ? RequestHead::Complete : RequestHead::Invalid;
}

bool has_whole_body(std::string_view bytes) {
    const auto begin = take_record(bytes);
    if (!begin) return false;
    while (const auto record = take_record(bytes)) {
        const bool is_of_request = record->version == begin->version &&
                                   record->request_id == begin->request_id &&
                                   (record->type == kParams || record->type == kStdin);
        if (!is_of_request) return false;
        if (record->type == kStdin && record->content.empty()) return true;
    }
    return false;
}

void ReplyRecords::append_header(std::uint8_t type, std::size_t content) {
    for (const std::size_t byte :
         {std::size_t{kVersion}, std::size_t{type}, std::size_t{request_id_} >> 8U,
          std::size_t{request_id_}, content >> 8U, content, std::size_t{0}, std::size_t{0}}) {
        bytes_ += static_cast<char>(byte & 0xffU);
    }
}

void ReplyRecords::append(std::string_view content) {
    while (!content.empty()) {
        const std::string_view piece = content.substr(0, std::min(kMostContent, content.size()));
        append_header(kStdout, piece.size());
        bytes_ += piece;
        content.remove_prefix(piece.size());
    }
}

void ReplyRecords::end() {
    append_header(kStdout, 0);
    append_header(kEndRequest, kEndBytes);
    bytes_.append(kEndBytes, '\0');
}

}  // namespace muster::http
