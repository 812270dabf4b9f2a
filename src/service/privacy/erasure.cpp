#include "service/privacy/erasure.hpp"

#include "base/json.hpp"
#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"
#include "rules/event_types.hpp"
#include "rules/imports/block.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "service/access/organizations.hpp"
#include "service/audit.hpp"
#include "service/outbox.hpp"
#include "store/access/organizations.hpp"
#include "store/ads/serving.hpp"
#include "store/imports/blocks.hpp"
#include "store/members/members.hpp"
#include "store/privacy/erasure.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace muster::service {
namespace {

constexpr int kBlocksAtOnce = 32;
constexpr int kRepliesAtOnce = 500;
constexpr int kEventsAtOnce = 1000;
constexpr std::string_view kAction = "user.erased";

enum class Mode : std::uint8_t { Preview, Erase };

// One person's erasure, or its preview: the same walk, so that the preview's word is kept.
class Eraser {
  public:
    Eraser(Context& context, std::string email, Mode mode)
        : context_(context), email_(std::move(email)), mode_(mode) {
        append_json_string(email_in_json_, email_);
    }

    Erasure run() {
        visit_events();
        // Before all that is found by the address, so that nothing that is recorded from here on
        // tells of the person any more.
        erase_identity();
        const auto organizations =
            context_.database.autocommit([](db::Tx& tx) { return store::list_organizations(tx); });
        for (const rules::Organization& organization : organizations) visit(organization);
        return std::move(erasure_);
    }

  private:
    bool erases() const { return mode_ == Mode::Erase; }

    // What the person did and what was told of it, in one organization.
    struct EventCounts {
        std::int64_t events = 0;
        std::int64_t webhooks = 0;
    };
    using Memberships = std::vector<store::PersonalMembership>;

    // They are found by the user and the member rows alone, so these stay until they are gone.
    void visit_events() {
        std::optional<UserId> user;
        Memberships memberships;
        std::vector<store::CountedEvents> webhooks;
        context_.database.autocommit([&](db::Tx& tx) {
            user = find_user(tx, store::UserLock::None);
            if (!user) return;
            memberships = store::find_memberships_of(tx, *user);
            webhooks = store::count_webhook_events(tx, *user);
        });
        for (const auto& [organization, member] : memberships) {
            const MemberId whose = member;  // a binding cannot be captured
            told_[organization].events += in_pieces(organization, [&](db::Tx&, db::OrgStore& org) {
                return erases() ? store::delete_engagement_events(org, whose, kEventsAtOnce)
                                : store::count_engagement_events(org, whose);
            });
        }
        for (const auto& [organization, count] : webhooks) {
            told_[organization].webhooks +=
                erases() ? erase_webhook_events(*user, organization, memberships) : count;
        }
    }

    // Does `step` in transactions of its own until it finds less than its share; how much in all.
    std::int64_t in_pieces(OrgId organization,
                           const std::function<std::int64_t(db::Tx&, db::OrgStore&)>& step) {
        std::int64_t in_all = 0;
        for (;;) {
            const auto count = context_.database.transaction([&](db::Tx& tx) {
                db::OrgStore org(tx, organization);
                return step(tx, org);
            });
            in_all += count;
            if (count > 0) noted_.insert(organization);
            if (!erases() || count < kEventsAtOnce) return in_all;
        }
    }

    std::int64_t erase_webhook_events(UserId user, OrgId organization, const Memberships& of) {
        return in_pieces(organization, [&](db::Tx& tx, db::OrgStore& org) {
            return delete_webhook_events(tx, org, user, of, kEventsAtOnce);
        });
    }

    // Where the person is a member no more, the identity's entry does not stand for it.
    std::int64_t delete_webhook_events(db::Tx& tx, db::OrgStore& org, UserId user,
                                       const Memberships& of, int limit) {
        const auto count = store::delete_webhook_events(org, user, limit);
        const bool is_member = std::any_of(of.begin(), of.end(), [&](const auto& membership) {
            return membership.organization == org.org();
        });
        if (count > 0 && !is_member) note(tx, org.org());
        return count;
    }

    std::optional<UserId> find_user(db::Tx& tx, store::UserLock lock) const {
        const std::string_view email = email_;
        const auto users = store::find_users(tx, {&email, 1}, lock);
        return users.empty() ? std::nullopt : std::optional(users.begin()->second);
    }

    // What came since visit_events(). The member rows are gone by now, and whoever writes an event
    // of a member holds that row: nothing more can come.
    std::map<OrgId, EventCounts> erase_latest_events(db::Tx& tx, UserId user,
                                                     const Memberships& of) {
        constexpr int kAll = std::numeric_limits<int>::max();
        std::map<OrgId, EventCounts> latest;
        for (const auto& [organization, member] : of) {
            db::OrgStore org(tx, organization);
            latest[organization].events = store::delete_engagement_events(org, member, kAll);
            // How often they were shown ads today: of no interest, so it is not counted.
            store::delete_ad_days_of(org, member);
        }
        for (const auto& counted : store::count_webhook_events(tx, user)) {
            latest.try_emplace(counted.organization);
        }
        for (auto& [organization, told] : latest) {
            db::OrgStore org(tx, organization);
            told.webhooks = delete_webhook_events(tx, org, user, of, kAll);
        }
        return latest;
    }

    void erase_identity() {
        Memberships memberships;
        std::map<OrgId, EventCounts> latest;
        context_.database.transaction([&](db::Tx& tx) {
            memberships.clear();
            // Locked before anything is read, so that what is read is not older than the lock.
            erasure_.user =
                find_user(tx, erases() ? store::UserLock::ForUpdate : store::UserLock::None);
            erasure_.is_admin = store::is_admin_address(tx, email_);
            if (!erasure_.user) return;
            memberships = store::find_memberships_of(tx, *erasure_.user);
            if (!erases()) return;
            store::delete_user(tx, *erasure_.user);
            latest = erase_latest_events(tx, *erasure_.user, memberships);
            note_identity(tx, memberships);
            for (const auto& membership : memberships) tell_modules(tx, membership);
        });
        for (const auto& [organization, member] : memberships) {
            members_.emplace(organization, member);
            noted_.insert(organization);
        }
        for (const auto& [organization, told] : latest) {
            told_[organization].events += told.events;
            told_[organization].webhooks += told.webhooks;
            if (told.webhooks > 0) noted_.insert(organization);
        }
    }

    // Modules hold records of the person too. They are told by ids alone, and the event is about
    // nobody any more: erasing again leaves it on its way.
    void tell_modules(db::Tx& tx, const store::PersonalMembership& membership) const {
        rules::Member removed;
        removed.user_id = *erasure_.user;
        removed.member_id = membership.member;
        removed.organization_id = membership.organization;
        OrgTransaction transaction{tx, {membership.organization}, Timestamp::now()};
        emit(transaction, {rules::event_type::kMemberRemoved, std::nullopt,
                           [&] { return to_json(rules::kRemovedUser, removed); }});
    }

    void note_identity(db::Tx& tx, const Memberships& memberships) {
        const Timestamp now = Timestamp::now();
        const std::string subject = erasure_.user->text();
        for (const auto& membership : memberships) {
            audit_operator(tx, membership.organization, kAction, subject, {}, now);
        }
        if (memberships.empty()) audit_operator(tx, std::nullopt, kAction, subject, {}, now);
    }

    // In the organization's log, once a run. Where the person was no member, the user's id would
    // tell that other organizations knew them: such an entry has no subject.
    void note(db::Tx& tx, OrgId organization) {
        if (noted_.contains(organization)) return;
        audit_operator(tx, organization, kAction, "", {}, Timestamp::now());
    }

    void visit(const rules::Organization& organization) {
        const EventCounts& told = told_[organization.id];
        ErasedHere here{organization.id, organization.name, {}, 0, 0, told.events, told.webhooks};
        const auto member = members_.find(organization.id);
        if (member != members_.end()) here.member = member->second;
        erase_staged_rows(here);
        erase_replies(here);
        if (here.member || here.import_rows + here.replies + here.webhooks > 0) {
            erasure_.organizations.push_back(std::move(here));
        }
    }

    void erase_staged_rows(ErasedHere& here) {
        std::optional<store::BlockPosition> after;
        for (;;) {
            const auto scanned = context_.database.autocommit([&](db::Tx& tx) {
                db::OrgStore org(tx, here.organization);
                return store::scan_blocks(org, after, email_, kBlocksAtOnce);
            });
            std::map<ImportId, std::vector<rules::BlockKey>> found;
            for (const auto& [place, contains_text] : scanned) {
                if (contains_text) found[place.job].push_back(place.key);
            }
            for (const auto& [job, keys] : found) erase_rows_of(here, job, keys);
            if (static_cast<int>(scanned.size()) < kBlocksAtOnce) return;
            after = scanned.back().place;
        }
    }

    // What some blocks of one job held.
    struct Held {
        std::int64_t rows = 0;
        bool is_active = false;
        bool is_unreadable = false;
    };

    void erase_rows_of(ErasedHere& here, ImportId job, const std::vector<rules::BlockKey>& keys) {
        const Held held = context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, here.organization);
            const auto state = store::lock_import_state(org, job);
            if (!state) return Held{};
            Held in_all;
            for (const rules::BlockKey& key : keys) redact(org, {job, key}, *state, in_all);
            if (erases() && in_all.rows > 0) note(tx, here.organization);
            return in_all;
        });
        here.import_rows += held.rows;
        if (held.rows > 0) noted_.insert(here.organization);
        if (held.is_active) keep(erasure_.active_jobs, here.organization, job);
        if (held.is_unreadable) keep(erasure_.unreadable_jobs, here.organization, job);
    }

    void redact(db::OrgStore& org, const store::BlockPosition& place, rules::ImportState state,
                Held& held) const {
        const auto block = store::read_block(org, place.job, place.key);
        if (!block) return;  // the purge came by
        try {
            const rules::Redaction redaction = rules::redact_rows(block->data, email_);
            if (redaction.rows == 0) return;  // a part of a longer address
            if (rules::is_active(state)) {
                held.is_active = true;
                return;
            }
            held.rows += redaction.rows;
            if (erases()) store::replace_block_data(org, place, redaction.block);
        } catch (const rules::CorruptBlock&) {
            held.is_unreadable = true;
        }
    }

    static void keep(std::vector<KeptJob>& jobs, OrgId organization, ImportId job) {
        if (jobs.empty() || jobs.back().id != job) jobs.push_back({organization, job});
    }

    void erase_replies(ErasedHere& here) {
        std::string after;
        for (;;) {
            const auto scanned = context_.database.autocommit([&](db::Tx& tx) {
                db::OrgStore org(tx, here.organization);
                return store::scan_replies(org, after, email_in_json_, kRepliesAtOnce);
            });
            std::vector<std::string> found;
            for (const auto& [key_hash, contains_text] : scanned) {
                if (contains_text) found.push_back(key_hash);
            }
            if (!found.empty()) here.replies += erase_found_replies(here.organization, found);
            if (static_cast<int>(scanned.size()) < kRepliesAtOnce) return;
            after = scanned.back().key_hash;
        }
    }

    std::int64_t erase_found_replies(OrgId organization, const std::vector<std::string>& found) {
        if (!erases()) return static_cast<std::int64_t>(found.size());
        const auto deleted = context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            const auto count = store::delete_replies(org, found, email_in_json_);
            if (count > 0) note(tx, organization);
            return count;
        });
        if (deleted > 0) noted_.insert(organization);
        return deleted;
    }

    Context& context_;
    std::string email_;
    std::string email_in_json_;  // quoted: no part of a longer address equals it
    Mode mode_;
    Erasure erasure_;
    std::map<OrgId, MemberId> members_;
    std::map<OrgId, EventCounts> told_;
    std::set<OrgId> noted_;
};

}  // namespace

Erasure preview_erasure(Context& context, std::string_view email) {
    return Eraser(context, checked_address(email), Mode::Preview).run();
}

Erasure erase_person(Context& context, std::string_view email) {
    return Eraser(context, checked_address(email), Mode::Erase).run();
}

}  // namespace muster::service
