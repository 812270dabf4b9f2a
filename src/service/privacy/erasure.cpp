#include "service/privacy/erasure.hpp"

#include "base/json.hpp"
#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"
#include "rules/event_types.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/states.hpp"
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
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <utility>

namespace muster::service {
namespace {

constexpr int kBlocksAtOnce = 32;
constexpr int kRepliesAtOnce = 500;
constexpr int kEventsAtOnce = 1000;
// An event is deleted with its deliveries to all endpoints and their attempts.
constexpr int kWebhooksAtOnce = 200;
constexpr Milliseconds kLatePause{100};
constexpr std::string_view kAction = "user.erased";

enum class Mode : std::uint8_t { Preview, Erase };

// Runs an erasure or its preview. Both take the same steps, so the preview matches the erasure.
class Eraser {
  public:
    Eraser(Context& context, std::string email, Mode mode, Milliseconds writing_time = {})
        : context_(context), email_(std::move(email)), mode_(mode), writing_time_(writing_time) {
        append_json_string(email_in_json_, email_);
    }

    Erasure run() {
        erase_events();
        // Before the data that is found by the address, so that nothing recorded from here on
        // refers to the person.
        erase_identity();
        if (erases() && erasure_.user) erase_late_events(*erasure_.user);
        const auto organizations =
            context_.database.autocommit([](db::Tx& tx) { return store::list_organizations(tx); });
        for (const rules::Organization& organization : organizations) erase_in(organization);
        return std::move(erasure_);
    }

  private:
    bool erases() const { return mode_ == Mode::Erase; }

    // The person's events in one organization.
    struct EventCounts {
        std::int64_t events = 0;
        std::int64_t webhooks = 0;
    };
    using Memberships = std::vector<store::PersonalMembership>;

    // Events are found only through the user and member rows, so these are erased later.
    void erase_events() {
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
            const MemberId whose = member;  // clang 14 cannot capture a structured binding
            counts_[organization].events +=
                in_batches(organization, kEventsAtOnce, [&](db::Tx&, db::OrgStore& org) {
                    return erases() ? store::delete_engagement_events(org, whose, kEventsAtOnce)
                                    : store::count_engagement_events(org, whose);
                });
        }
        for (const auto& [organization, count] : webhooks) {
            counts_[organization].webhooks +=
                erases() ? erase_webhook_events(*user, organization, memberships) : count;
        }
    }

    // Runs `step` in separate transactions until it returns less than a batch of `size`. Returns
    // the total.
    std::int64_t in_batches(OrgId organization, int size,
                            const std::function<std::int64_t(db::Tx&, db::OrgStore&)>& step) {
        std::int64_t total = 0;
        for (;;) {
            const auto count = context_.database.transaction([&](db::Tx& tx) {
                db::OrgStore org(tx, organization);
                return step(tx, org);
            });
            total += count;
            if (!erases() || count < size) return total;
        }
    }

    static bool has_membership(const Memberships& of, OrgId organization) {
        return std::any_of(of.begin(), of.end(), [&](const auto& membership) {
            return membership.organization == organization;
        });
    }

    // If the person is no longer a member, audit_identity() does not cover this organization.
    std::int64_t erase_webhook_events(UserId user, OrgId organization, const Memberships& of) {
        return in_batches(organization, kWebhooksAtOnce, [&](db::Tx& tx, db::OrgStore& org) {
            const auto count = store::delete_webhook_events(org, user, kWebhooksAtOnce);
            if (count > 0 && !has_membership(of, organization)) audit_once(tx, organization);
            return count;
        });
    }

    std::optional<UserId> find_user(db::Tx& tx, store::UserLock lock) const {
        const std::string_view email = email_;
        const auto users = store::find_users(tx, {&email, 1}, lock);
        return users.empty() ? std::nullopt : std::optional(users.begin()->second);
    }

    // Erases the events that arrived since erase_events(). An ingested event cannot arrive later:
    // the member rows are deleted, and its writer locks the member row.
    std::map<OrgId, EventCounts> erase_latest_events(db::Tx& tx, UserId user,
                                                     const Memberships& of) {
        constexpr int kAll = std::numeric_limits<int>::max();
        std::map<OrgId, EventCounts> latest;
        for (const auto& [organization, member] : of) {
            db::OrgStore org(tx, organization);
            latest[organization].events = store::delete_engagement_events(org, member, kAll);
            // The ad counters of the day are not reported.
            store::delete_ad_days_of(org, member);
        }
        for (const auto& counted : store::count_webhook_events(tx, user)) {
            latest.try_emplace(counted.organization);
        }
        for (auto& [organization, counts] : latest) {
            db::OrgStore org(tx, organization);
            counts.webhooks = store::delete_webhook_events(org, user, kAll);
        }
        return latest;
    }

    // The writers of tracked events and of shown ads lock no member row. One that found the member
    // before the deletion writes after it, so look again until such a writer has committed.
    void erase_late_events(UserId user) {
        Memberships memberships;
        for (const auto& [organization, member] : members_) {
            memberships.push_back({organization, member});
        }
        const auto end = std::chrono::steady_clock::now() + writing_time_;
        for (;;) {
            const bool is_last = std::chrono::steady_clock::now() >= end;
            add_counts(context_.database.transaction([&](db::Tx& tx) {
                auto latest = erase_latest_events(tx, user, memberships);
                for (const auto& [organization, counts] : latest) {
                    if (counts.webhooks > 0 && !has_membership(memberships, organization))
                        audit_once(tx, organization);
                }
                return latest;
            }));
            if (is_last) return;
            std::this_thread::sleep_for(kLatePause);
        }
    }

    void add_counts(const std::map<OrgId, EventCounts>& latest) {
        for (const auto& [organization, counts] : latest) {
            counts_[organization].events += counts.events;
            counts_[organization].webhooks += counts.webhooks;
        }
    }

    void erase_identity() {
        Memberships memberships;
        std::map<OrgId, EventCounts> latest;
        context_.database.transaction([&](db::Tx& tx) {
            memberships.clear();
            latest.clear();
            // Locked first, so that no read is older than the lock.
            erasure_.user =
                find_user(tx, erases() ? store::UserLock::ForUpdate : store::UserLock::None);
            erasure_.is_admin = store::is_admin_address(tx, email_);
            if (erasure_.user) memberships = store::find_memberships_of(tx, *erasure_.user);
            const auto inviting = store::find_inviting_organizations(tx, email_);
            invited_by_ = {inviting.begin(), inviting.end()};
            if (!erases()) return;
            delete_invitations(tx);
            if (erasure_.user) latest = delete_identity(tx, *erasure_.user, memberships);
            audit_others(tx, memberships, latest);
        });
        for (const auto& [organization, member] : memberships) {
            members_.emplace(organization, member);
        }
        add_counts(latest);
    }

    void delete_invitations(db::Tx& tx) const {
        for (const OrgId organization : invited_by_) {
            db::OrgStore org(tx, organization);
            store::delete_invitation_of(org, email_);
        }
    }

    // Returns the events that arrived since erase_events().
    std::map<OrgId, EventCounts> delete_identity(db::Tx& tx, UserId user,
                                                 const Memberships& memberships) {
        store::delete_user(tx, user);
        auto latest = erase_latest_events(tx, user, memberships);
        audit_identity(tx, memberships);
        for (const auto& membership : memberships) notify_modules(tx, membership);
        return latest;
    }

    // Modules hold data of the person too. The event contains only ids and has no person, so a
    // repeated erasure does not delete it before its delivery.
    void notify_modules(db::Tx& tx, const store::PersonalMembership& membership) const {
        rules::Member removed;
        removed.user_id = *erasure_.user;
        removed.member_id = membership.member;
        removed.organization_id = membership.organization;
        OrgTransaction transaction{tx, {membership.organization}, Timestamp::now()};
        emit(transaction, {rules::event_type::kMemberRemoved, std::nullopt,
                           [&] { return to_json(rules::kRemovedUser, removed); }});
    }

    void audit_identity(db::Tx& tx, const Memberships& memberships) {
        const Timestamp now = Timestamp::now();
        const std::string subject = erasure_.user->text();
        for (const auto& membership : memberships) {
            audit_operator(tx, membership.organization, kAction, subject, {}, now);
            note_audited(tx, membership.organization);
        }
        if (memberships.empty()) audit_operator(tx, std::nullopt, kAction, subject, {}, now);
    }

    // audit_identity() covers the organizations of memberships. The others invited the person, or
    // the membership ended after erase_events(), which erased its events.
    void audit_others(db::Tx& tx, const Memberships& memberships,
                      const std::map<OrgId, EventCounts>& latest) {
        std::set<OrgId> concerned = invited_by_;
        for (const auto& [organization, counts] : counts_) {
            if (counts.events + counts.webhooks > 0) concerned.insert(organization);
        }
        for (const auto& [organization, counts] : latest) {
            if (counts.webhooks > 0) concerned.insert(organization);
        }
        for (const OrgId organization : concerned) {
            if (!has_membership(memberships, organization)) audit_once(tx, organization);
        }
    }

    // Writes to the organization's log, once per run. If the person was not a member, the user id
    // would reveal that other organizations know the person, so the entry has no subject.
    void audit_once(db::Tx& tx, OrgId organization) {
        if (audited_.contains(organization)) return;
        audit_operator(tx, organization, kAction, "", {}, Timestamp::now());
        note_audited(tx, organization);
    }

    void note_audited(db::Tx& tx, OrgId organization) {
        tx.after_commit([this, organization] { audited_.insert(organization); });
    }

    void erase_in(const rules::Organization& organization) {
        const EventCounts& counts = counts_[organization.id];
        OrganizationErasure erased;
        erased.organization = organization.id;
        erased.name = organization.name;
        erased.events = counts.events;
        erased.webhooks = counts.webhooks;
        erased.is_invited = invited_by_.contains(organization.id);
        const auto member = members_.find(organization.id);
        if (member != members_.end()) erased.member = member->second;
        erase_staged_rows(erased);
        erase_replies(erased);
        if (erased.member || erased.is_invited ||
            erased.import_rows + erased.replies + erased.events + erased.webhooks > 0) {
            erasure_.organizations.push_back(std::move(erased));
        }
    }

    void erase_staged_rows(OrganizationErasure& erased) {
        std::optional<store::BlockPosition> after;
        for (;;) {
            const auto scanned = context_.database.autocommit([&](db::Tx& tx) {
                db::OrgStore org(tx, erased.organization);
                return store::scan_blocks(org, after, email_, kBlocksAtOnce);
            });
            std::map<ImportId, std::vector<rules::BlockKey>> found;
            for (const auto& [place, may_match] : scanned) {
                if (may_match) found[place.job].push_back(place.key);
            }
            for (const auto& [job, keys] : found) erase_rows_of(erased, job, keys);
            if (static_cast<int>(scanned.size()) < kBlocksAtOnce) return;
            after = scanned.back().place;
        }
    }

    // The result for some blocks of one job.
    struct BlockResult {
        std::int64_t rows = 0;
        bool is_active = false;
        bool is_unreadable = false;
    };

    void erase_rows_of(OrganizationErasure& erased, ImportId job,
                       const std::vector<rules::BlockKey>& keys) {
        const BlockResult result = context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, erased.organization);
            const auto state = store::lock_import_state(org, job);
            if (!state) return BlockResult{};
            BlockResult total;
            for (const rules::BlockKey& key : keys) redact(org, {job, key}, *state, total);
            if (erases() && total.rows > 0) audit_once(tx, erased.organization);
            return total;
        });
        erased.import_rows += result.rows;
        if (result.is_active) add_job(erasure_.active_jobs, erased.organization, job);
        if (result.is_unreadable) add_job(erasure_.unreadable_jobs, erased.organization, job);
    }

    void redact(db::OrgStore& org, const store::BlockPosition& place, rules::ImportState state,
                BlockResult& result) const {
        const auto block = store::read_block(org, place.job, place.key);
        if (!block) return;  // purged in the meantime
        try {
            const rules::Redaction redaction = rules::redact_rows(block->data, email_);
            if (redaction.rows == 0) return;  // the match was part of a longer address
            if (rules::is_active(state)) {
                result.is_active = true;
                return;
            }
            result.rows += redaction.rows;
            if (erases()) store::replace_block_data(org, place, redaction.block);
        } catch (const rules::CorruptBlock&) {
            result.is_unreadable = true;
        }
    }

    static void add_job(std::vector<KeptJob>& jobs, OrgId organization, ImportId job) {
        if (jobs.empty() || jobs.back().id != job) jobs.push_back({organization, job});
    }

    void erase_replies(OrganizationErasure& erased) {
        std::string after;
        for (;;) {
            const auto scanned = context_.database.autocommit([&](db::Tx& tx) {
                db::OrgStore org(tx, erased.organization);
                return store::scan_replies(org, after, email_in_json_, kRepliesAtOnce);
            });
            std::vector<std::string> found;
            for (const auto& [key_hash, contains_text] : scanned) {
                if (contains_text) found.push_back(key_hash);
            }
            if (!found.empty()) erased.replies += erase_found_replies(erased.organization, found);
            if (static_cast<int>(scanned.size()) < kRepliesAtOnce) return;
            after = scanned.back().key_hash;
        }
    }

    std::int64_t erase_found_replies(OrgId organization, const std::vector<std::string>& found) {
        if (!erases()) return static_cast<std::int64_t>(found.size());
        return context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            const auto count = store::delete_replies(org, found, email_in_json_);
            if (count > 0) audit_once(tx, organization);
            return count;
        });
    }

    Context& context_;
    std::string email_;
    std::string email_in_json_;  // quoted, so that it does not match part of a longer address
    Mode mode_;
    Milliseconds writing_time_;
    Erasure erasure_;
    std::map<OrgId, MemberId> members_;
    std::map<OrgId, EventCounts> counts_;
    std::set<OrgId> invited_by_;
    std::set<OrgId> audited_;
};

}  // namespace

Erasure preview_erasure(Context& context, std::string_view email) {
    return Eraser(context, checked_address(email), Mode::Preview).run();
}

Erasure erase_person(Context& context, std::string_view email, Milliseconds writing_time) {
    return Eraser(context, checked_address(email), Mode::Erase, writing_time).run();
}

}  // namespace muster::service
