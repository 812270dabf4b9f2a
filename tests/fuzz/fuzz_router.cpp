// api/routes.hpp: a method and a path match at most one row, with a parameter for each {…} of its
// path. A known path without the method reports the allowed methods. Input: the method, a space,
// the path.
#include "api/routes.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view path = fuzz::text_of(data, size);
    const auto method = http::method_of(fuzz::take(path, ' '));
    const api::Match match = api::match(method, path);
    must(!match.endpoint || match.path_known);
    must(match.allow.empty() == (match.endpoint || !match.path_known));
    if (!match.endpoint) return 0;
    must(api::all_endpoints().at(match.index) == match.endpoint);
    std::string rebuilt;
    std::size_t parameter = 0;
    for (const std::string_view segment : split(match.endpoint->path.substr(1), '/')) {
        const bool is_parameter = segment.starts_with('{');
        rebuilt.append("/").append(is_parameter ? match.parameters.at(parameter++) : segment);
    }
    must(parameter == match.parameters.size() && rebuilt == path);
    return 0;
}
