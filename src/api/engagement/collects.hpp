// The kind of handler whose events are written together with those of other requests. POST
// /v1/users has a kind of its own (api/members.cpp), and api/answers.hpp has all others.
#pragma once

#include "api/answers.hpp"
#include "rules/engagement/events.hpp"
#include "service/collecting.hpp"

#include <utility>

namespace muster::api {

template <const auto& kRecord, auto kWork>
struct Collects {
    static constexpr ReplyShape kShape = json_shape<kRecord>;

    template <class Body>
    service::CollectedCall operator()(Call& call, Body body) const {
        return {service::CollectedEvents{
            kWork(call, std::move(body)), [&row = call.endpoint](const rules::EventCounts& counts) {
                return stored<kRecord>(row, Answer<rules::EventCounts>{counts});
            }}};
    }
};
// Replies with the counts after the events of all collected calls are committed.
template <const auto& kRecord, auto kWork>
inline constexpr Collects<kRecord, kWork> collects;

}  // namespace muster::api
