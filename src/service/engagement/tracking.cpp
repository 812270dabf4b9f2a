#include "service/engagement/tracking.hpp"

#include "db/transaction.hpp"
#include "rules/engagement/event_record.hpp"
#include "rules/engagement/events.hpp"
#include "rules/event_types.hpp"
#include "rules/stored_json.hpp"
#include "service/members/lookup.hpp"
#include "service/outbox.hpp"
#include "service/quotas.hpp"
#include "store/engagement/events.hpp"

namespace muster::service {
namespace {

using store::LinkedMember;

void check(const TrackedEvent& event, const std::string& path, Timestamp now, Faults& faults) {
    const int references = event.user_id.has_value() + event.member_id.has_value() +
                           event.member_external_id.has_value() + event.anonymous_id.has_value();
    const std::string prefix = path.empty() ? "" : path + ".";
    if (references != 1) {
        faults.add(path.empty() ? "event" : path,
                   references == 0 ? FieldCode::Required : FieldCode::InvalidValue,
                   "has " + std::to_string(references) +
                       " of user_id, member_id, member_external_id and anonymous_id; send exactly "
                       "one");
    }
    rules::validate_event(event.metadata, event.occurred_at, now, prefix, faults);
}

MemberReferences references(std::span<const TrackedCall* const> calls) {
    MemberReferences named;
    for (const TrackedCall* call : calls) {
        for (const TrackedEvent& event : call->events) {
            if (event.user_id) named.users.insert(*event.user_id);
            if (event.member_id) named.members.insert(*event.member_id);
            if (event.member_external_id) named.external_ids.insert(*event.member_external_id);
        }
    }
    return named;
}

// The client_event_ids that are stored or were seen in these calls.
class KnownEvents {
  public:
    KnownEvents(db::OrgStore& org, std::span<const TrackedCall* const> calls) {
        std::set<std::string> named;
        for (const TrackedCall* call : calls) {
            for (const TrackedEvent& event : call->events) {
                if (event.client_event_id) named.insert(*event.client_event_id);
            }
        }
        const std::vector<std::string> ids(named.begin(), named.end());
        for (auto& id : store::find_client_events(org, ids)) known_.insert(std::move(id));
    }

    bool is_new(const TrackedEvent& event) {
        return !event.client_event_id || known_.insert(*event.client_event_id).second;
    }

  private:
    std::set<std::string> known_;
};

const LinkedMember* member_of(const TrackedEvent& event, const LinkedMembers& members) {
    if (event.user_id) return members.by_user(*event.user_id);
    if (event.member_id) return members.by_member(*event.member_id);
    if (event.member_external_id) return members.by_external_id(*event.member_external_id);
    return nullptr;
}

rules::EngagementEvent record_of(const TrackedCall& call, const TrackedEvent& event,
                                 const LinkedMember* member, Timestamp now) {
    rules::EngagementEvent record;
    record.id = EventId::create();
    if (member) {
        record.member_id = member->member;
        record.member_external_id = member->external_id;
        record.user_id = member->user;
    }
    record.action = event.action;
    record.tags.text = rules::json_of_texts(event.tags);
    record.metadata = event.metadata;
    record.client_event_id = event.client_event_id;
    record.occurred_at = event.occurred_at.value_or(now);
    record.received_at = now;
    record.geo_country = call.geo_country;
    record.geo_region = call.geo_region;
    record.anonymous_id = event.anonymous_id;
    return record;
}

// Returns the bytes that it stored.
std::int64_t emit_events(OrgTransaction& transaction,
                         const std::vector<rules::EngagementEvent>& records) {
    std::vector<Event> emitted;
    emitted.reserve(records.size());
    for (const rules::EngagementEvent& record : records) {
        emitted.push_back({rules::event_type::kEngagementRecorded, record.user_id,
                           [&record] { return to_json(rules::kEngagementEvent, record); }});
    }
    return emit(transaction, emitted);
}

}  // namespace

void check_tracked(std::span<const TrackedEvent> events, bool is_batch, Timestamp now,
                   Faults& faults) {
    for (std::size_t i = 0; i < events.size() && !faults.truncated(); ++i) {
        check(events[i], is_batch ? "events[" + std::to_string(i) + "]" : "", now, faults);
    }
}

std::vector<rules::EventCounts> track_events(OrgTransaction& transaction,
                                             std::span<const TrackedCall* const> calls) {
    db::OrgStore org(transaction.tx, transaction.org());
    // Locks no member rows: a request with a public key must neither block other requests nor wait
    // for them.
    const LinkedMembers members(org, references(calls), store::MemberLock::None);
    KnownEvents known(org, calls);
    std::vector<rules::EventCounts> counts;
    std::vector<rules::EngagementEvent> records;
    for (const TrackedCall* call : calls) {
        rules::EventCounts& count = counts.emplace_back();
        for (const TrackedEvent& event : call->events) {
            const bool is_new = known.is_new(event);
            ++(is_new ? count.accepted : count.duplicates);
            if (is_new)
                records.push_back(
                    record_of(*call, event, member_of(event, members), transaction.now));
        }
    }
    const bool are_new =
        db::try_unique([&] { store::insert_engagement_events(org, std::nullopt, records); });
    if (!are_new) {
        throw db::RetryTransaction{
            "an event with one of these client_event_ids was inserted concurrently"};
    }
    const auto bytes = rules::stored_bytes(records) + emit_events(transaction, records);
    count_bytes(transaction, rules::Quota::TrackedBytes, bytes);
    return counts;
}

}  // namespace muster::service
