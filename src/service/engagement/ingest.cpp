#include "service/engagement/ingest.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/engagement/event_record.hpp"
#include "rules/engagement/events.hpp"
#include "rules/event_types.hpp"
#include "rules/modules/manifest.hpp"
#include "service/members/lookup.hpp"
#include "service/outbox.hpp"
#include "store/engagement/events.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <set>

namespace muster::service {
namespace {

using store::LinkedMember;

int references_of(const PushedEvent& event) {
    return event.user_id.has_value() + event.member_id.has_value() +
           event.member_external_id.has_value() + event.email.has_value();
}

template <class Value>
std::vector<Value> values_of(const std::vector<PushedEvent>& events,
                             std::optional<Value> PushedEvent::*member) {
    std::set<Value> values;
    for (const PushedEvent& event : events) {
        if (event.*member) values.insert(*(event.*member));
    }
    return {values.begin(), values.end()};
}

// The members that a batch names, an address among the names.
class Members {
  public:
    Members(db::Tx& tx, db::OrgStore& org, const std::vector<PushedEvent>& events)
        : users_(users_of(tx, events)),
          members_(org, references(events, users_), store::MemberLock::Share) {}

    // nullptr: none, or none alone. The event has one reference.
    const LinkedMember* of(const PushedEvent& event) const {
        if (event.user_id) return members_.by_user(*event.user_id);
        if (event.member_id) return members_.by_member(*event.member_id);
        if (event.member_external_id) return members_.by_external_id(*event.member_external_id);
        const auto user = users_.find(*event.email);
        return user == users_.end() ? nullptr : members_.by_user(user->second);
    }

  private:
    static store::UsersByEmail users_of(db::Tx& tx, const std::vector<PushedEvent>& events) {
        const auto emails = values_of(events, &PushedEvent::email);
        const std::vector<std::string_view> addresses(emails.begin(), emails.end());
        return store::find_users(tx, addresses, store::UserLock::None);
    }

    static MemberReferences references(const std::vector<PushedEvent>& events,
                                       const store::UsersByEmail& users) {
        MemberReferences named;
        for (const PushedEvent& event : events) {
            if (event.user_id) named.users.insert(*event.user_id);
            if (event.member_id) named.members.insert(*event.member_id);
            if (event.member_external_id) named.external_ids.insert(*event.member_external_id);
        }
        for (const auto& [email, user] : users) named.users.insert(user);
        return named;
    }

    store::UsersByEmail users_;
    LinkedMembers members_;
};

std::string_view reference_name(const PushedEvent& event) {
    if (event.user_id) return ".user_id";
    if (event.member_id) return ".member_id";
    return event.email ? ".email" : ".member_external_id";
}

// A batch on its way into the table.
class Intake {
  public:
    Intake(OrgTransaction& transaction, InstallationId installation,
           const std::vector<PushedEvent>& events)
        : unit_(transaction),
          org_(transaction.tx, transaction.org()),
          installation_(installation),
          events_(events),
          members_(transaction.tx, org_, events) {}

    rules::EventCounts run() {
        judge();
        const auto records = fresh();
        store_all(records);
        tell(records);
        const auto accepted = static_cast<std::int64_t>(records.size());
        return {accepted, static_cast<std::int64_t>(events_.size()) - accepted};
    }

  private:
    void judge() {
        const auto types = values_of(events_, &PushedEvent::type);
        std::vector<std::string> emitted;
        if (!types.empty()) {
            const auto manifest = store::find_installed_manifest(org_, installation_);
            emitted = rules::emitted_types(manifest.value_or("{}"));
        }
        Faults faults;
        for (std::size_t i = 0; i < events_.size() && !faults.truncated(); ++i) {
            judge(events_[i], "events[" + std::to_string(i) + "]", emitted, faults);
        }
        if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    }

    void judge(const PushedEvent& event, const std::string& path,
               const std::vector<std::string>& emitted, Faults& faults) const {
        const int references = references_of(event);
        if (references == 0) {
            faults.add(path, FieldCode::Required,
                       "One of user_id, member_id, member_external_id and email is wanted.");
        } else if (references > 1) {
            faults.add(
                path, FieldCode::InvalidValue,
                "Only one of user_id, member_id, member_external_id and email may be there.");
        } else if (!members_.of(event)) {
            faults.add(path + std::string(reference_name(event)), FieldCode::InvalidValue);
        }
        const bool is_emitted =
            !event.type || std::find(emitted.begin(), emitted.end(), *event.type) != emitted.end();
        if (!is_emitted) faults.add(path + ".type", FieldCode::InvalidChoice);
        rules::validate_event(event.metadata, event.occurred_at, unit_.now, path + ".", faults);
    }

    // Those that are not known by their client_event_id, from before or from earlier in the batch.
    std::vector<rules::EngagementEvent> fresh() {
        const auto ids = values_of(events_, &PushedEvent::client_event_id);
        const auto known = store::find_client_events(org_, ids);
        std::set<std::string> seen(known.begin(), known.end());
        std::vector<rules::EngagementEvent> records;
        for (const PushedEvent& event : events_) {
            if (event.client_event_id && !seen.insert(*event.client_event_id).second) continue;
            records.push_back(record_of(event));
        }
        return records;
    }

    rules::EngagementEvent record_of(const PushedEvent& event) const {
        const LinkedMember& member = *members_.of(event);
        return {.id = EventId::create(),
                .member_id = member.member,
                .member_external_id = member.external_id,
                .user_id = member.user,
                .type = event.type,
                .action = event.action,
                .tags = event.tags,
                .metadata = event.metadata,
                .client_event_id = event.client_event_id,
                .occurred_at = event.occurred_at.value_or(unit_.now),
                .received_at = unit_.now,
                .geo_country = {},
                .geo_region = {},
                .anonymous_id = {}};
    }

    void store_all(const std::vector<rules::EngagementEvent>& records) {
        const bool are_new =
            db::try_unique([&] { store::insert_engagement_events(org_, installation_, records); });
        if (!are_new) {
            throw db::RetryTransaction{
                "an event with one of these client_event_ids came meanwhile"};
        }
    }

    void tell(const std::vector<rules::EngagementEvent>& records) {
        std::vector<Event> told;
        for (const rules::EngagementEvent& record : records) {
            const auto data = [&record] { return to_json(rules::kEngagementEvent, record); };
            told.push_back({rules::event_type::kEngagementRecorded, record.user_id, data});
            if (record.type) told.push_back({*record.type, record.user_id, data});
        }
        emit(unit_, told);
    }

    OrgTransaction& unit_;
    db::OrgStore org_;
    InstallationId installation_;
    const std::vector<PushedEvent>& events_;
    Members members_;
};

}  // namespace

rules::EventCounts ingest_events(OrgTransaction& transaction, InstallationId installation,
                                 const std::vector<PushedEvent>& events) {
    return Intake(transaction, installation, events).run();
}

}  // namespace muster::service
