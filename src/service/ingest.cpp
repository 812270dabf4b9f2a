#include "service/ingest.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "rules/manifest.hpp"
#include "rules/reply_records.hpp"
#include "service/events.hpp"
#include "store/engagement_events.hpp"
#include "store/members.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace muster::service {
namespace {

constexpr Milliseconds kMostAhead{24L * 3600 * 1000};
constexpr Milliseconds kMostBehind{30L * 24 * 3600 * 1000};

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

// The members that a batch names, looked up together.
class Members {
  public:
    Members(db::Tx& tx, db::OrgStore& org, const std::vector<PushedEvent>& events) {
        const auto emails = values_of(events, &PushedEvent::email);
        const std::vector<std::string_view> addresses(emails.begin(), emails.end());
        users_ = store::find_users(tx, addresses, store::Lock::None);
        auto users = values_of(events, &PushedEvent::user_id);
        for (const auto& [email, user] : users_) users.push_back(user);
        for (auto& member : store::hold_members_by_user(org, users)) {
            by_user_.emplace(member.user, member);
        }
        const auto ids = values_of(events, &PushedEvent::member_id);
        for (auto& member : store::hold_members_by_id(org, ids))
            by_id_.emplace(member.member, member);
        const auto external_ids = values_of(events, &PushedEvent::member_external_id);
        for (auto& member : store::hold_members_by_external_id(org, external_ids)) {
            by_external_id_.emplace(member.external_id.value_or(""), member);
        }
    }

    // nullptr: none, or none alone. The event has one reference.
    const LinkedMember* of(const PushedEvent& event) const {
        if (event.user_id) return in(by_user_, *event.user_id);
        if (event.member_id) return in(by_id_, *event.member_id);
        if (event.email) {
            const auto user = users_.find(*event.email);
            return user == users_.end() ? nullptr : in(by_user_, user->second);
        }
        const bool is_one = by_external_id_.count(*event.member_external_id) == 1;
        return is_one ? &by_external_id_.find(*event.member_external_id)->second : nullptr;
    }

  private:
    template <class Key>
    static const LinkedMember* in(const std::map<Key, LinkedMember>& members, const Key& key) {
        const auto found = members.find(key);
        return found == members.end() ? nullptr : &found->second;
    }

    store::UsersByEmail users_;
    std::map<UserId, LinkedMember> by_user_;
    std::map<MemberId, LinkedMember> by_id_;
    std::multimap<std::string, LinkedMember> by_external_id_;
};

std::string_view reference_name(const PushedEvent& event) {
    if (event.user_id) return ".user_id";
    if (event.member_id) return ".member_id";
    return event.email ? ".email" : ".member_external_id";
}

// A batch on its way into the table.
class Intake {
  public:
    Intake(Unit& unit, InstallationId installation, const std::vector<PushedEvent>& events)
        : unit_(unit),
          org_(unit.tx, unit.org()),
          installation_(installation),
          events_(events),
          members_(unit.tx, org_, events) {}

    Ingested run() {
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
        if (event.metadata && event.metadata->text.size() > kMostMetadataBytes) {
            faults.add(path + ".metadata", FieldCode::TooLong);
        }
        const Timestamp when = event.occurred_at.value_or(unit_.now);
        if (when > unit_.now + kMostAhead || when < unit_.now - kMostBehind) {
            faults.add(path + ".occurred_at", FieldCode::OutOfRange);
        }
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
                .geo_region = {}};
    }

    void store_all(const std::vector<rules::EngagementEvent>& records) {
        const bool are_new = db::unless_taken(
            [&] { store::insert_engagement_events(org_, installation_, records); });
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

    Unit& unit_;
    db::OrgStore org_;
    InstallationId installation_;
    const std::vector<PushedEvent>& events_;
    Members members_;
};

}  // namespace

Ingested ingest_events(Unit& unit, InstallationId installation,
                       const std::vector<PushedEvent>& events) {
    return Intake(unit, installation, events).run();
}

}  // namespace muster::service
