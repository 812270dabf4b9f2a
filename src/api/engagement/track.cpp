// Serves /v1/track: events that web pages send with a tracking key (specification 6,
// docs/engagement.md "Tracking"). The body is one event, or an object with several in "events".
#include "api/engagement/collects.hpp"
#include "api/groups.hpp"
#include "json/json_source.hpp"
#include "rules/engagement/event_record.hpp"
#include "service/callers.hpp"

#include <algorithm>

namespace muster::api {
namespace {

using http::Method;
using json::AnyJson;
using json::array_of;
using json::Instant;
using json::Text;
using json::Uuid;
using service::TrackedEvent;

// ---------------------------------------------------------------------------- bodies

constexpr auto kTrackedEvent =
    json::object<TrackedEvent>(
        json::required("action", &TrackedEvent::action, Text{1, 128}, "Action of the visitor.",
                       "page_viewed"),
        json::optional("user_id", &TrackedEvent::user_id, Uuid<UserId>{},
                       "Id of the user. Exactly one of user_id, member_id, member_external_id and "
                       "anonymous_id is required."),
        json::optional("member_id", &TrackedEvent::member_id, Uuid<MemberId>{},
                       "Id of the member."),
        json::optional("member_external_id", &TrackedEvent::member_external_id, Text{1, 255},
                       "external_id of the member; it must belong to one member only.", "C-1001"),
        json::optional("anonymous_id", &TrackedEvent::anonymous_id, Text{1, 128},
                       "The page's id of an anonymous visitor.", "v-81f3"),
        json::optional("tags", &TrackedEvent::tags, array_of(Text{1, 64, true}, 0, 20),
                       "Tags for reports.", R"(["pricing"])"),
        json::optional("metadata", &TrackedEvent::metadata, AnyJson{},
                       "Any JSON of at most 8 KiB. Numbers are stored as sent.",
                       R"({"plan": "family"})"),
        json::optional(
            "client_event_id", &TrackedEvent::client_event_id, Text{1, 128},
            "The page's id of the event. A repeated id is counted as a duplicate and not stored.",
            "81f3-1"),
        json::optional(
            "occurred_at", &TrackedEvent::occurred_at, Instant{},
            "Time of the event, at most 30 days ago and 24 hours ahead. If omitted: now."))
        .named("TrackedEvent");

constexpr Text kKey{1, 64};

struct TrackedBatch {
    std::vector<TrackedEvent> events;
    std::optional<std::string> key;
};
constexpr auto kTrackedBatch = json::object<TrackedBatch>(
    json::required("events", &TrackedBatch::events, array_of(kTrackedEvent, 1, 100),
                   "Events to store. If one event is malformed, no event is stored."),
    json::optional("key", &TrackedBatch::key, kKey, "The tracking key, if it is not in the query.",
                   "ek_live_..."));

struct Single : TrackedEvent {
    std::optional<std::string> key;
};
constexpr auto kSingle = json::extended<Single>(
    kTrackedEvent, json::optional("key", &Single::key, kKey,
                                  "The tracking key, if it is not in the query.", "ek_live_..."));

// A field of the other shape: null is the same as left out, and any other value is a fault.
template <class Owner>
struct FieldOfOtherShape {
    std::string_view name;
    bool is_required = false;

    void decode(const json::JsonIn&, const json::Path& path, json::Decoding& to, Owner&) const {
        to.fault(path, FieldCode::UnknownField);
    }
};

// What is decoded: each shape with the fields that only the other one has.
constexpr auto kSingleOrNull = json::extended<Single>(kSingle, FieldOfOtherShape<Single>{"events"});
constexpr auto kBatchOrNull = std::apply(
    [](const auto&... fields) {
        return json::extended<TrackedBatch>(kTrackedBatch,
                                            FieldOfOtherShape<TrackedBatch>{fields.name}...);
    },
    kTrackedEvent.fields);

struct Body {
    TrackedBatch batch;
    bool is_batch = true;
};

// Either shape: a batch if "events" has a value.
struct BodySchema {
    using Value = Body;

    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                Body& out) const {
        const auto events = in.member("events");
        out.is_batch = events && !events->is_null();
        if (out.is_batch) {
            kBatchOrNull.decode(in, path, to, out.batch);
        } else {
            Single single;
            kSingleOrNull.decode(in, path, to, single);
            out.batch = {{static_cast<const TrackedEvent&>(single)}, single.key};
        }
        service::check_tracked(out.batch.events, out.is_batch, Timestamp::now(), to.faults);
    }

    Json::Value schema() const {
        Json::Value schema;
        schema["anyOf"].append(kTrackedBatch.schema());
        schema["anyOf"].append(kSingle.schema());
        return schema;
    }
};
constexpr BodySchema kBody;

// ---------------------------------------------------------------------------- handler

bool has_metadata(const Body& body) {
    return std::any_of(body.batch.events.begin(), body.batch.events.end(),
                       [](const TrackedEvent& event) { return event.metadata; });
}

void take_metadata_of_body(const Call& call, Body& body) {
    auto& events = body.batch.events;
    if (body.is_batch) return take_metadata_as_sent(call, events);
    events[0].metadata->text =
        json::compact_json(json::member_as_sent(*call.body, call.body_text, "metadata"));
}

void reject_other_key(const Call& call, const std::optional<std::string>& key) {
    if (!key || *key == call.caller.publishable_key->token) return;
    Faults faults;
    faults.add("key", FieldCode::InvalidValue, "is not the key in the query; send the key once");
    throw Error(ErrorCode::ValidationError).fields(faults);
}

// Metadata as sent may be longer than its parsed form: 1.000… is a number of one digit.
void reject_long_metadata(const Body& body) {
    Faults faults;
    service::check_tracked(body.batch.events, body.is_batch, Timestamp::now(), faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

service::TrackedCall track_events(Call& call, Body body) {
    reject_other_key(call, body.batch.key);
    if (has_metadata(body)) {
        take_metadata_of_body(call, body);
        reject_long_metadata(body);
    }
    return service::TrackedCall{call.actor(), std::move(body.batch.events),
                                call.request.geo_country, call.request.geo_region};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kTrackEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/track",
        .operation = "trackEvents",
        .summary = "Track events of a page, all or none",
        .description =
            "Stores one event, or up to 100 in events, of a page or app. Either all are stored or "
            "none. Send the key in the query or in the body. A known client_event_id counts as a "
            "duplicate, so a call can be repeated.",
        .access = Access::TrackingKey,
        .body_limit = kEventsBody,
        .body_required = true,
        .body_component = "TrackedEvents",
        .body_schema = schema_of<kBody>,
        .body_example = R"({"action": "page_viewed", "anonymous_id": "v-81f3",
                 "tags": ["pricing"], "client_event_id": "81f3-1"})",
        .reply = {202, "The numbers of stored events and of duplicates. The events are committed."},
        .handler = decoded<kBody, collects<rules::kEventCounts, track_events>>,
        .workers = WorkerGroup::Collectors},
};
static_assert(well_formed(kTrackEndpoints, "/v1/track"));

}  // namespace

std::span<const Endpoint> track_endpoints() {
    return kTrackEndpoints;
}

}  // namespace muster::api
