#include "json/json_body.hpp"

#include "base/error.hpp"
#include "base/json_bounds.hpp"
#include "base/memory.hpp"
#include "base/text.hpp"
#include "json/large_number.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster::json {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(ErrorCode::BadRequest).detail("reason", reason);
}

std::string reason_for(simdjson::error_code error) {
    switch (error) {
        case simdjson::DEPTH_ERROR:
            return "the body is nested deeper than 64 levels";
        case simdjson::UTF8_ERROR:
            return "the body is not UTF-8";
        case simdjson::EMPTY:
            return "the body is empty";
        case simdjson::NUMBER_ERROR:
            return "the body has a number that is malformed or too large";
        case simdjson::STRING_ERROR:
            return "the body has a malformed string";
        default:
            return "the body is not JSON";
    }
}

// simdjson decodes a lone low surrogate to three bytes that are not valid UTF-8 (ED A0..BF xx).
bool has_surrogate(std::string_view text) {
    for (std::size_t at = text.find('\xed'); at != std::string_view::npos;
         at = text.find('\xed', at + 1)) {
        if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
    }
    return false;
}

constexpr std::size_t kMostKeys = 1'000;  // of an object; they may be sorted
constexpr std::size_t kSmall = std::size_t{64} << 10U;

void refuse_costly(std::string_view body) {
    if (body.size() <= kSmall || !may_exceed_json_bounds(body)) return;
    const JsonParts parts = count_json_parts(body);
    if (parts.long_numbers > kMostLongNumbers) {
        refuse(
            "the body has more than 1,000 numbers of more than 19 digits; a minus before 19 digits "
            "counts as a digit");
    }
    if (parts.entries > kMostJsonEntries) {
        refuse(
            "the body has more than 1,000,000 array entries and object members; send it in several "
            "calls");
    }
}

using Keys = std::span<const std::string_view>;

bool has_duplicate_among_few(Keys keys) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const auto before = keys.first(i);
        if (std::find(before.begin(), before.end(), keys[i]) != before.end()) return true;
    }
    return false;
}

// Whether an object has a key twice.
class DuplicateCheck {
  public:
    bool operator()(Keys keys) {
        constexpr std::size_t kFew = 16;
        if (keys.size() <= kFew) return has_duplicate_among_few(keys);
        // The rows of an import often have the same keys in the same order.
        if (std::equal(keys.begin(), keys.end(), distinct_.begin(), distinct_.end())) return false;
        sorted_.clear();
        for (const std::string_view key : keys) sorted_.emplace_back(hash_(key), key);
        std::sort(sorted_.begin(), sorted_.end());
        if (std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end()) return true;
        distinct_.assign(keys.begin(), keys.end());
        return false;
    }

  private:
    std::vector<std::string_view> distinct_;  // the keys of the last large object
    // Numbers are compared faster than texts. Equal hashes cost a comparison of the keys.
    std::vector<std::pair<std::size_t, std::string_view>> sorted_;
    std::hash<std::string_view> hash_;
};

// Rejects what simdjson accepts and the API does not. kMaxDepth bounds the recursion.
class StrictCheck {
  public:
    explicit StrictCheck(bool has_escapes) : has_escapes_(has_escapes) {}

    // `depth`: the level of `element` if it is a container. The root has level 1.
    void run(const dom::element& element, std::size_t depth) {
        using Type = dom::element_type;
        switch (element.type()) {
            case Type::OBJECT:
                return object(element.get_object().value_unsafe(), depth);
            case Type::ARRAY:
                return array(element.get_array().value_unsafe(), depth);
            case Type::STRING:
                if (has_escapes_) string(element.get_string().value_unsafe());
                return;
            case Type::INT64:
            case Type::UINT64:
            case Type::DOUBLE:
            case Type::BOOL:
            case Type::NULL_VALUE:
                return;
        }
    }

  private:
    static void check_depth(std::size_t depth) {
        if (depth > kMaxDepth) refuse(reason_for(simdjson::DEPTH_ERROR));
    }

    void array(const dom::array& array, std::size_t depth) {
        check_depth(depth);
        for (const dom::element entry : array) run(entry, depth + 1);
    }

    void object(const dom::object& object, std::size_t depth) {
        check_depth(depth);
        if (object.size() > kMostKeys) {
            refuse("the body has an object with more than 1,000 members");
        }
        const std::size_t first = keys_.size();
        for (const auto& [key, value] : object) {
            keys_.push_back(key);
            if (has_escapes_) string(key);
            run(value, depth + 1);
        }
        if (has_duplicate_(std::span(keys_).subspan(first))) {
            refuse("the body has an object with the same key twice");
        }
        keys_.resize(first);
    }

    static void string(std::string_view text) {
        if (has_surrogate(text)) refuse("the body has a lone surrogate");
    }

    bool has_escapes_;
    std::vector<std::string_view> keys_;  // of the objects around the current element
    DuplicateCheck has_duplicate_;
};

// Parses with the thread's parser. Its buffers grow with the body and are reused, except those for
// more than kMostReusedBytes.
class Parsing {
  public:
    explicit Parsing(std::size_t bytes) {
        // The parser counts a scalar as a level. StrictCheck counts containers only.
        if (parser.capacity() >= bytes && parser.max_depth() == kMaxDepth + 1) return;
        if (parser.allocate(std::max<std::size_t>(bytes, 4096), kMaxDepth + 1)) {
            throw std::bad_alloc();
        }
    }
    ~Parsing() {
        if (parser.capacity() > kMostReusedBytes) parser = dom::parser();
    }
    Parsing(const Parsing&) = delete;
    Parsing& operator=(const Parsing&) = delete;

    auto parse(dom::document& document, std::string_view body) {
        return parser.parse_into_document(document, body.data(), body.size());
    }

  private:
    static thread_local dom::parser parser;
};
thread_local dom::parser Parsing::parser;

simdjson::error_code parse_text(dom::document& document, std::string_view text,
                                dom::element& root) {
    return Parsing(text.size()).parse(document, text).get(root);
}

}  // namespace

struct JsonBody::Document : dom::document {
    // The document of a destroyed body. The next body reuses its buffers.
    static std::unique_ptr<Document>& spare() {
        thread_local std::unique_ptr<Document> spare;
        return spare;
    }
};

void JsonBody::Reuse::operator()(Document* document) const {
    std::unique_ptr<Document> done(document);
    if (done->capacity() <= kMostReusedBytes) {
        Document::spare() = std::move(done);
        return;
    }
    done.reset();
    release_freed_memory();
}

JsonBody::JsonBody(std::string_view body) : document_(Document::spare().release()) {
    if (body.empty()) refuse("the body is empty");
    if (body.starts_with(kByteOrderMark)) refuse("the body begins with a byte order mark");
    refuse_costly(body);
    if (!document_) document_.reset(new Document);
    dom::element root;
    auto error = parse_text(*document_, body, root);
    if (error == simdjson::NUMBER_ERROR) {
        if (const auto marked = mark_large_numbers(body))
            error = parse_text(*document_, *marked, root);
    }
    if (error) refuse(reason_for(error));
    StrictCheck(body.find("\\u") != std::string_view::npos).run(root, 1);
    root_ = std::bit_cast<JsonIn>(root);
}

struct JsonParser::State {
    dom::parser parser;
    std::string padded;

    simdjson::error_code parse(std::string_view text, dom::element& root) {
        padded.assign(text);
        padded.append(simdjson::SIMDJSON_PADDING, '\0');
        return parser.parse(padded.data(), text.size(), false).get(root);
    }
};

JsonParser::JsonParser() : state_(std::make_unique<State>()) {}
JsonParser::~JsonParser() = default;

std::optional<JsonIn> JsonParser::parse(std::string_view text) {
    dom::element root;
    auto error = state_->parse(text, root);
    if (error == simdjson::NUMBER_ERROR) {
        if (const auto marked = mark_large_numbers(text)) error = state_->parse(*marked, root);
    }
    if (error) return std::nullopt;
    return std::bit_cast<JsonIn>(root);
}

std::optional<JsonObject> JsonParser::parse_object(std::string_view text) {
    const auto root = parse(text);
    return root ? root->object() : std::nullopt;
}

bool is_same_json(std::string_view one, std::string_view other) {
    if (one == other) return true;
    JsonParser first;
    JsonParser second;
    const auto left = first.parse(one);
    const auto right = second.parse(other);
    return left && right && canonical_json(*left) == canonical_json(*right);
}

}  // namespace muster::json
