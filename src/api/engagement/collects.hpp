// The kind of handler whose work is written together with that of other requests (api/answers.hpp
// has the others).
#pragma once

#include "api/answers.hpp"
#include "rules/engagement/events.hpp"
#include "service/engagement/collect.hpp"

#include <utility>

namespace muster::api {

template <const auto& kRecord, auto kWork>
struct Collects {
    static constexpr ReplyShape kShape = json_shape<kRecord>;

    template <class Body>
    service::CollectedCall operator()(Call& call, Body body) const {
        return {kWork(call, std::move(body)),
                [&row = call.endpoint](const rules::EventCounts& counts) {
                    return stored<kRecord>(row, Answer<rules::EventCounts>{counts});
                }};
    }
};
// Answers the counts once the events of the call are written, together with those of other calls.
template <const auto& kRecord, auto kWork>
inline constexpr Collects<kRecord, kWork> collects;

}  // namespace muster::api
