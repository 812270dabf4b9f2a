#include "service/engagement/ingest.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/engagement/event_record.hpp"
#include "rules/engagement/events.hpp"
#include "rules/event_types.hpp"
#include "rules/modules/manifest.hpp"
#include "rules/stored_json.hpp"
#include "service/members/lookup.hpp"
#include "service/outbox.hpp"
#include "service/quotas.hpp"
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

// The members that a batch refers to, including by email address.
class BatchMembers {
  public:
    BatchMembers(db::Tx& tx, db::OrgStore& org, const std::vector<PushedEvent>& events)
        : users_(users_of(tx, events)),
          members_(org, references(events, users_), store::MemberLock::Share) {}

    // The member of an event with one reference; nullptr if there is none or more than one.
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

// Validates and stores one batch.
class IngestBatch {
  public:
    IngestBatch(OrgTransaction& transaction, InstallationId installation,
                const std::vector<PushedEvent>& events)
        : transaction_(transaction),
          org_(transaction.tx, transaction.org()),
          installation_(installation),
          events_(events),
          members_(transaction.tx, org_, events) {}

    rules::EventCounts run() {
        validate();
        const auto records = new_records();
        store_all(records);
        const auto bytes = rules::stored_bytes(records) + emit_events(records);
        count_bytes(transaction_, rules::Quota::IngestedBytes, bytes);
        const auto accepted = static_cast<std::int64_t>(records.size());
        return {accepted, static_cast<std::int64_t>(events_.size()) - accepted};
    }

  private:
    void validate() {
        const auto types = values_of(events_, &PushedEvent::type);
        std::vector<std::string> emitted;
        if (!types.empty()) {
            const auto manifest = store::find_installed_manifest(org_, installation_);
            emitted = rules::emitted_types(manifest.value_or("{}"));
        }
        Faults faults;
        for (std::size_t i = 0; i < events_.size() && !faults.truncated(); ++i) {
            validate(events_[i], "events[" + std::to_string(i) + "]", emitted, faults);
        }
        if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    }

    void validate(const PushedEvent& event, const std::string& path,
                  const std::vector<std::string>& emitted, Faults& faults) const {
        const int references = references_of(event);
        if (references != 1) {
            faults.add(
                path, references == 0 ? FieldCode::Required : FieldCode::InvalidValue,
                "has " + std::to_string(references) +
                    " of user_id, member_id, member_external_id and email; send exactly one");
        } else if (!members_.of(event)) {
            faults.add(path + std::string(reference_name(event)), FieldCode::InvalidValue);
        }
        const bool is_emitted =
            !event.type || std::find(emitted.begin(), emitted.end(), *event.type) != emitted.end();
        if (!is_emitted) {
            faults.add(path + ".type", FieldCode::InvalidChoice, {.allowed = emitted});
        }
        rules::validate_event(event.metadata, event.occurred_at, transaction_.now, path + ".",
                              faults);
    }

    // The events whose client_event_id is neither stored for the installation nor repeated in the
    // batch.
    std::vector<rules::EngagementEvent> new_records() {
        const auto ids = values_of(events_, &PushedEvent::client_event_id);
        const auto known = store::find_ingested_events(org_, installation_, ids);
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
                .source = rules::EventSource::Signed,
                .type = event.type,
                .action = event.action,
                .tags = {rules::json_of_texts(event.tags)},
                .metadata = event.metadata,
                .client_event_id = event.client_event_id,
                .occurred_at = event.occurred_at.value_or(transaction_.now),
                .received_at = transaction_.now,
                .geo_country = {},
                .geo_region = {},
                .anonymous_id = {}};
    }

    void store_all(const std::vector<rules::EngagementEvent>& records) {
        const bool are_new =
            db::try_unique([&] { store::insert_engagement_events(org_, installation_, records); });
        if (!are_new) {
            throw db::RetryTransaction{
                "an event with one of these client_event_ids was inserted concurrently"};
        }
    }

    // Returns the bytes that it stored.
    std::int64_t emit_events(const std::vector<rules::EngagementEvent>& records) {
        std::vector<Event> emitted;
        for (const rules::EngagementEvent& record : records) {
            const auto data = [&record] { return to_json(rules::kEngagementEvent, record); };
            emitted.push_back({rules::event_type::kEngagementRecorded, record.user_id, data});
            if (record.type) emitted.push_back({*record.type, record.user_id, data});
        }
        return emit(transaction_, emitted);
    }

    OrgTransaction& transaction_;
    db::OrgStore org_;
    InstallationId installation_;
    const std::vector<PushedEvent>& events_;
    BatchMembers members_;
};

}  // namespace

rules::EventCounts ingest_events(OrgTransaction& transaction, InstallationId installation,
                                 const std::vector<PushedEvent>& events) {
    return IngestBatch(transaction, installation, events).run();
}

}  // namespace muster::service
