// rules/modules/manifest.hpp: any manifest and any config are validated; a valid config shows no
// secret, and is valid again with its secrets kept. The first line of input is the manifest, the
// rest the config.
#include "rules/modules/manifest.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/event_types.hpp"

#include <algorithm>

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest = fuzz::text_of(data, size);
    const std::string_view manifest = fuzz::take(rest, '\n');
    Faults faults;
    rules::check_manifest("shop", manifest, faults);
    for (const Fault& fault : faults.list()) must(fault.path.starts_with("manifest"));
    const auto types = rules::emitted_types(manifest);
    if (faults.empty()) {
        must(std::all_of(types.begin(), types.end(),
                         [](const auto& type) { return rules::can_emit("shop", type); }));
    }
    Faults in_config;
    const auto config = rules::check_config(manifest, rest, Secret(), in_config);
    for (const Fault& fault : in_config.list()) must(fault.path.starts_with("config"));
    if (!faults.empty() || !in_config.empty()) return 0;
    if (rest.find("\\u") != std::string_view::npos)
        return 0;  // a body never contains a lone surrogate
    must(is_utf8(config.shown));
    const auto again = rules::check_config(manifest, config.shown, config.secrets, in_config);
    must(in_config.empty() && again.shown == config.shown);
    must(again.secrets.reveal() == config.secrets.reveal());
    return 0;
}
