// json/json_source.hpp: a text cut out of a document is a document equal to the element of the
// parser, and compacting changes only white space.
#include "base/error.hpp"
#include "fuzz/fuzz.hpp"
#include "json/json_body.hpp"
#include "json/json_source.hpp"

#include <optional>
#include <string>

using namespace muster;
using fuzz::must;
using json::canonical_json;
using json::JsonBody;

namespace {

std::string canonical(std::string_view text) {
    const JsonBody body(text);
    return canonical_json(body.root());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of(data, size));
    std::string before;
    std::optional<std::vector<std::string>> meant;
    try {
        const JsonBody body(text);
        before = canonical_json(body.root());
        meant.emplace();
        if (body.root().is_array()) {
            const auto entries = body.root().array();
            for (const json::JsonIn& entry : *entries) {
                meant->push_back(canonical_json(entry));
            }
        } else if (body.root().is_object()) {
            const auto members = body.root().object();
            for (const auto& [key, value] : *members) {
                meant->push_back(canonical_json(value));
            }
        } else {
            meant.reset();
        }
    } catch (const Error&) {
        return 0;
    }
    const std::string compact = json::compact_json(text);
    must(canonical(compact) == before);
    must(json::compact_json(compact) == compact);
    if (!meant) return 0;
    const auto sent = json::entries_as_sent(text);
    must(sent.size() == meant->size());
    for (std::size_t i = 0; i < sent.size(); ++i) must(canonical(sent[i]) == (*meant)[i]);
    return 0;
}
