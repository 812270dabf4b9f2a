// rules/engagement/ingest_signature.hpp: a header that is read as a signature is written in the
// same way, and Muster's own signatures are always read.
#include "base/crypto.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/engagement/ingest_signature.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view header = fuzz::text_of(data, size);
    const Secret secret("mks_fuzz");
    if (const auto signature = rules::parse_ingest_signature(header)) {
        std::string again = "t=" + std::string(signature->seconds);
        for (const std::string& digest : signature->digests) again += ",v1=" + to_hex(digest);
        must(equal_ignoring_case(again, header));
        must(signature->when.milliseconds() >= 0);
        must(!rules::is_signed_by(secret, *signature, "key", header));
    }
    const std::string sent =
        "t=7,v1=" + to_hex(hmac_sha256(secret.reveal(), "7.key." + std::string(header)));
    const auto ours = rules::parse_ingest_signature(sent);
    must(ours && rules::is_signed_by(secret, *ours, "key", header));
    return 0;
}
