// rules/ads/token.hpp: unsigned bytes are never read as a token, with any key; and a token signed
// from the bytes of the input is read as it was written.
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/ads/token.hpp"

#include <vector>

using namespace muster;
using fuzz::must;
using rules::AdTokenKind;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const std::vector<Secret> keys{Secret("current"), Secret("previous")};
    for (const auto kind : {AdTokenKind::Impression, AdTokenKind::Click}) {
        const auto read = rules::decode_ad_token(keys, kind, text);
        if (!read) continue;
        must(read->kind == kind);
        must(rules::encode_ad_token(keys[0], *read) == text ||
             rules::encode_ad_token(keys[1], *read) == text);
    }
    const auto id = Uuid::from_bytes(text.substr(0, Uuid::kBytes));
    if (!id) return 0;
    const rules::AdToken ours{AdTokenKind::Click, OrgId(*id),      ServingId(*id),
                              CampaignId(*id),    CreativeId(*id), Timestamp(-1)};
    const std::string sent = rules::encode_ad_token(keys[1], ours);
    must(rules::decode_ad_token(keys, AdTokenKind::Click, sent) == ours);
    must(!rules::decode_ad_token(keys, AdTokenKind::Impression, sent));
    return 0;
}
