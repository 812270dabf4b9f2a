// The kind of handler whose events are written together with those of other requests. POST
// /v1/users has a kind of its own (api/members.cpp), and api/answers.hpp has all others.
#pragma once

#include "api/answers.hpp"
#include "json/json_source.hpp"
#include "rules/engagement/events.hpp"
#include "service/collecting.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace muster::api {

// Keeps numbers in the metadata of the body's "events" exactly as sent.
template <class Event>
void take_metadata_as_sent(const Call& call, std::vector<Event>& events) {
    auto sent = json::members_as_sent(*call.body, call.body_text, "events", "metadata");
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].metadata) events[i].metadata->text = std::move(sent.at(i));
    }
}

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
