// The measured calls on members, events, imports and access. Row `n` of a table has id_of(n).
#include "db/read_costs.hpp"
#include "store/access/admins.hpp"
#include "store/access/api_keys.hpp"
#include "store/access/invitations.hpp"
#include "store/access/sessions.hpp"
#include "store/attributes.hpp"
#include "store/audit_log.hpp"
#include "store/engagement/events.hpp"
#include "store/idempotency.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/discards.hpp"
#include "store/imports/jobs.hpp"
#include "store/imports/undo.hpp"
#include "store/mail_outbox.hpp"
#include "store/member_jobs/jobs.hpp"
#include "store/members/list.hpp"
#include "store/members/lookup.hpp"
#include "store/members/members.hpp"
#include "store/privacy/erasure.hpp"
#include "store/quotas.hpp"

#include <string>
#include <vector>

namespace muster::test {

using db::OrgStore;
using db::Tx;

namespace {

// Times of the filled rows are 1, 2, …
const Timestamp kEarly(60);
// Import jobs that are not expired.
const Timestamp kBeforeExpiry(1'000'000);
const std::int64_t kEachAsked = kAsked + kEnds;

template <class Text>
std::vector<std::string_view> views(const std::vector<Text>& texts) {
    return {texts.begin(), texts.end()};
}

std::vector<std::string> emails() {
    auto texts = some_texts("p");
    for (auto& text : texts) text += "@x.test";
    return texts;
}

MeasuredCall by_user(const char* name, store::MemberLock lock) {
    return measured({name}, kEachAsked, [=](OrgStore& org) {
        return store::find_members_by_user(org, some_ids<UserId>(), lock);
    });
}
MeasuredCall by_id(const char* name, store::MemberLock lock) {
    return measured({name}, 2 * kAsked + kEnds, [=](OrgStore& org) {
        return store::find_members_by_id(org, some_ids<MemberId>(), lock);
    });
}
MeasuredCall by_external_id(const char* name, store::MemberLock lock) {
    return measured({name}, 2 * kAsked + kEnds, [=](OrgStore& org) {
        return store::find_members_by_external_id(org, some_texts("C-"), lock);
    });
}
MeasuredCall blocks(const char* name, const store::RowStates& states) {
    // Half of the blocks are staged.
    return measured({name}, 2 * kPage + kEnds, [=](OrgStore& org) {
        return store::read_blocks(org, id_of<ImportId>(2), {1100, 0}, states, kPage);
    });
}

}  // namespace

std::vector<MeasuredCall> member_calls() {
    using store::MemberLock;
    std::vector<MeasuredCall> calls{
        by_user("members.find_by_user", MemberLock::None),
        by_user("members.hold_by_user", MemberLock::Share),
        by_id("members.find_by_id", MemberLock::None),
        by_id("members.hold_by_id", MemberLock::Share),
        by_external_id("members.find_by_external_id", MemberLock::None),
        by_external_id("members.hold_by_external_id", MemberLock::Share),
    };
    const auto add = [&](const char* name, std::int64_t most, const auto& call) {
        calls.push_back(measured({name}, most, call));
    };
    add("members.find_many", kEachAsked,
        [](OrgStore& org) { return store::find_members(org, some_ids<UserId>()); });
    add("members.lock_many", kEachAsked,
        [](OrgStore& org) { return store::lock_members(org, some_ids<UserId>()); });
    add("members.find_sizes", kEachAsked,
        [](OrgStore& org) { return store::find_member_sizes(org, some_ids<UserId>()); });
    add("members.lock_sizes", kEachAsked,
        [](OrgStore& org) { return store::lock_member_sizes(org, some_ids<UserId>()); });
    add("imports.find_members_with_events", 4 * kEachAsked,
        [](OrgStore& org) { return store::find_members_with_events(org, some_ids<MemberId>()); });
    add("members.delete_many", 2 * kEachAsked, [](OrgStore& org) {
        store::delete_members(org, some_ids<UserId>());
        return 1;
    });
    add("members.find_memberships", kEachAsked,
        [](OrgStore& org) { return store::find_memberships(org, some_ids<UserId>()); });
    add("members.filter", kEachAsked, [](OrgStore& org) {
        return store::filter_members(org, some_ids<UserId>(), {{}, "active", kEarly, {}});
    });
    add("members.match_attribute", kEachAsked, [](OrgStore& org) {
        return store::match_attribute(org, some_ids<UserId>(), {"color", "1"}).bytes;
    });
    add("member_jobs.find_due", kEnds,
        [](Tx& tx) { return store::find_due_member_job(tx, kBeforeExpiry); });
    add("member_jobs.page", kOnePage, [](OrgStore& org) {
        return store::page_member_jobs(org, id_of<rules::MemberJobId>(160), kPage, kBeforeExpiry);
    });
    add("members.count_among", 3 * kAsked + kEnds, [](OrgStore& org) {
        const auto asked = emails();
        return store::count_members_among(org, views(asked));
    });
    add("members.find_known_users", 3 * kAsked + kEnds, [](OrgStore& org) {
        const auto asked = emails();
        return store::find_known_users(org, views(asked));
    });
    add("users.find", 2 * kAsked + kEnds, [](Tx& tx) {
        const auto asked = emails();
        return store::find_users(tx, views(asked), store::UserLock::None);
    });
    add("users.find_locked", 2 * kAsked + kEnds, [](Tx& tx) {
        const auto asked = emails();
        return store::find_users(tx, views(asked), store::UserLock::ForUpdate);
    });
    add("members.find_by_email", kEnds,
        [](OrgStore& org) { return store::find_member_key(org, "p60@x.test"); });
    add("members.page", kOnePage,
        [](OrgStore& org) { return store::page_members(org, id_of<UserId>(60), kPage); });
    add("members.page_newest", kOnePage,
        [](OrgStore& org) { return store::page_newest_members(org, id_of<MemberId>(160), kPage); });
    add("members.page_of_status", kOnePage, [](OrgStore& org) {
        return store::page_members_of_status(org, "active", id_of<UserId>(60), kPage);
    });
    add("members.page_of_external_id", kOnePage,
        [](OrgStore& org) { return store::page_members_of_external_id(org, "C-60", {}, kPage); });
    add("members.page_updated", kOnePage, [](OrgStore& org) {
        return store::page_members_updated(org, kEarly, id_of<UserId>(60), kPage);
    });
    // Three indexes: their entries are merged and sorted, and the member of each is read.
    add("members.page_by_prefix", 12 * kPage,
        [](OrgStore& org) { return store::page_members_by_prefix(org, "p", {}, kPage); });
    add("attributes.page_changed", kOnePage, [](OrgStore& org) {
        return store::page_changed_members(org, kEarly, id_of<UserId>(60), kPage);
    });
    add("attributes.find_used", kEnds, [](OrgStore& org) {
        store::update_member(org, [] {
            rules::Member member;
            member.user_id = id_of<UserId>(1);
            member.attributes = R"({"color": ["red", "api", 1]})";
            member.status = "active";
            member.updated_at = Timestamp(10'000'000);
            return member;
        }());
        return store::is_attribute_used(org, "color", Timestamp(10'000'000));
    });
    add("engagement_events.find_client_events", 2 * kAsked + kEnds,
        [](OrgStore& org) { return store::find_client_events(org, some_texts("e")); });
    calls.push_back(measured(
        {"engagement_events.find_ingested", "engagement_events.find_ingested_before"},
        4 * kAsked + kEnds, [](OrgStore& org) {
            return store::find_ingested_events(org, id_of<InstallationId>(1), some_texts("s"));
        }));
    add("engagement_events.first_pages", 3 * (2 * kPage + kEnds), [](OrgStore& org) {
        const std::array<store::FirstPage, 3> pages = {{{id_of<MemberId>(7), kPage},
                                                        {id_of<MemberId>(8), kPage},
                                                        {id_of<MemberId>(9), kPage}}};
        return store::first_engagement_events(org, pages);
    });
    add("engagement_events.page", 2 * kPage + kEnds, [](OrgStore& org) {
        const store::EventPosition end{Timestamp(1'000'000), {}};
        return store::page_engagement_events(org, id_of<MemberId>(7), end, kPage);
    });
    // The counted entries are read again from the table of the subquery.
    add("engagement_events.count_of_member", 3 * kPage + kEnds,
        [](OrgStore& org) { return store::count_member_events(org, id_of<MemberId>(7), kPage); });
    // Each event has its member.
    add("engagement_events.page_recent", 2 * kPage + kEnds, [](OrgStore& org) {
        return store::page_recent_events(org, Timestamp(0), id_of<EventId>(1000), kPage);
    });
    add("engagement_events.find_manifest", kEnds, [](OrgStore& org) {
        return store::find_installed_manifest(org, id_of<InstallationId>(60));
    });
    // A member of a full organization has 100 events and 100 webhook events.
    add("erasure.count_engagement_events", 100 + kEnds,
        [](OrgStore& org) { return store::count_engagement_events(org, id_of<MemberId>(7)); });
    add("erasure.delete_engagement_events", 2 * kPage + kEnds, [](OrgStore& org) {
        return store::delete_engagement_events(org, id_of<MemberId>(7), kPage);
    });
    return calls;
}

std::vector<MeasuredCall> import_calls() {
    std::vector<MeasuredCall> calls{blocks("import_blocks.read", {})};
    for (const auto& name : kNames<rules::RowState>) {
        calls.push_back(blocks("import_blocks.read_states", {name.value}));
    }
    const auto add = [&](const char* name, std::int64_t most, const auto& call) {
        calls.push_back(measured({name}, most, call));
    };
    add("import_discards.lock", kEnds, [](Tx& tx) { return store::lock_import_discard(tx); });
    add("import_blocks.read_new_members", 4 * kPage + kEnds, [](OrgStore& org) {
        return store::read_new_members(org, id_of<ImportId>(2), {1100, 0}, kPage);
    });
    add("import_blocks.find_parts", 2 * kAsked + kEnds, [](OrgStore& org) {
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t i = 1; i <= kAsked; ++i) numbers.push_back(i);
        return store::find_parts(org, id_of<ImportId>(1), numbers);
    });
    add("import_blocks.read_parts", 2 * kAsked + kEnds, [](OrgStore& org) {
        std::vector<store::BlockKey> keys;
        for (std::uint32_t i = 1; i <= kAsked; ++i) keys.push_back({i, 0});
        return store::read_parts(org, id_of<ImportId>(1), keys);
    });
    add("import_blocks.delete", 2 * kAsked + kEnds, [](OrgStore& org) {
        std::vector<store::BlockKey> keys;
        for (std::uint32_t i = 1; i <= kAsked; ++i) keys.push_back({i, 0});
        store::delete_parts(org, id_of<ImportId>(1), keys);
        return static_cast<std::int64_t>(keys.size());
    });
    add("import_blocks.find_uncommitted", 4 * kPage + kEnds, [](OrgStore& org) {
        return store::find_uncommitted_blocks(org, id_of<ImportId>(2), {1100, 0}, kPage);
    });
    add("import_blocks.find_committed", 4 * kPage + kEnds, [](OrgStore& org) {
        return store::find_committed_blocks(org, id_of<ImportId>(2), {1100, 0}, kPage);
    });
    add("import_blocks.count_committed", kOnePage, [](OrgStore& org) {
        return store::count_committed_rows(org, id_of<ImportId>(2), {1100, 0}, kPage);
    });
    add("import_blocks.find_last", kEnds,
        [](OrgStore& org) { return store::find_last_block(org, id_of<ImportId>(2)); });
    add("import_blocks.delete_some", 2 * kPage + kEnds,
        [](OrgStore& org) { return store::delete_some_blocks(org, id_of<ImportId>(2), kPage); });
    add("imports.page", 6 * kPage + kEnds, [](OrgStore& org) {
        return store::page_imports(org, id_of<ImportId>(90), {}, kPage, kBeforeExpiry);
    });
    add("imports.page_of_state", 6 * kPage + kEnds, [](OrgStore& org) {
        return store::page_imports(org, id_of<ImportId>(90), rules::ImportState::Completed, kPage,
                                   kBeforeExpiry);
    });
    add("imports.find_due", 2 * kEnds,
        [](Tx& tx) { return store::find_due_import(tx, kBeforeExpiry); });
    add("imports.count_ahead", 2 * kEnds,
        [](Tx& tx) { return store::count_imports_ahead(tx, kEarly, kEarly, kBeforeExpiry, 99); });
    add("imports.find_expired", 2 * kPage + kEnds, [](Tx& tx) {
        return store::find_expired_imports(tx, kBeforeExpiry + Milliseconds(90), kPage);
    });
    add("imports.count_moving", kEnds,
        [](Tx& tx) { return store::count_imports_in_progress(tx, kBeforeExpiry); });
    add("erasure.scan_blocks", kOnePage, [](OrgStore& org) {
        return store::scan_blocks(org, store::BlockPosition{id_of<ImportId>(1), {60, 0}}, "x",
                                  kPage);
    });
    add("erasure.scan_replies", kOnePage,
        [](OrgStore& org) { return store::scan_replies(org, hash_of(60), "x", kPage); });
    add("erasure.delete_replies", 2 * kAsked + kEnds,
        [](OrgStore& org) { return store::delete_replies(org, some_hashes(), "body"); });
    return calls;
}

std::vector<MeasuredCall> access_calls() {
    std::vector<MeasuredCall> calls;
    const auto add = [&](const char* name, std::int64_t most, const auto& call) {
        calls.push_back(measured({name}, most, call));
    };
    // Each row has the admin, the seat and its organization.
    add("sessions.find", 4 * kAsked + kEnds,
        [](Tx& tx) { return store::find_sessions(tx, some_hashes()); });
    // Each row has the organization.
    add("api_keys.find_by_secret", 2 * kAsked + kEnds,
        [](Tx& tx) { return store::find_api_keys(tx, some_hashes()); });
    add("sessions.find_by_id", kEnds,
        [](Tx& tx) { return store::find_session(tx, id_of<SessionId>(7)); });
    // 200 admins have the sessions.
    add("sessions.page", 2 * kPage + kEnds, [](Tx& tx) {
        return store::page_sessions(tx, {id_of<AdminId>(7), {}, {}}, {}, kPage);
    });
    add("backup_codes.count", 2 * kEnds,
        [](Tx& tx) { return store::count_backup_codes(tx, id_of<AdminId>(7)); });
    // An organization has 200 seats and attributes.
    add("idempotency.find", kEachAsked, [](OrgStore& org) {
        return store::find_idempotency_records(org, some_hashes(), store::RecordLock::None);
    });
    add("idempotency.find_shared", kEachAsked, [](OrgStore& org) {
        return store::find_idempotency_records(org, some_hashes(), store::RecordLock::Share);
    });
    add("idempotency.delete_expired", 2 * kAsked + kEnds, [](OrgStore& org) {
        return store::delete_expired_idempotency_records(org, some_hashes(), kBeforeExpiry);
    });
    add("seats.list", 3 * 200 + kEnds, [](OrgStore& org) { return store::list_seat_holders(org); });
    add("seats.page", 2 * kPage + kEnds,
        [](OrgStore& org) { return store::page_seat_holders(org, id_of<AdminId>(7), kPage); });
    add("seats.lock", 200 + kEnds, [](OrgStore& org) { return store::lock_seats(org); });
    add("seats.find_by_email", kEnds,
        [](OrgStore& org) { return store::has_seat(org, "a7@x") ? 1 : 0; });
    add("seats.find_holder", kEnds,
        [](OrgStore& org) { return store::find_seat_holder(org, id_of<AdminId>(7)); });
    add("seat_invitations.page", 2 * kOnePage, [](OrgStore& org) {
        return store::page_invitations(org, id_of<rules::InvitationId>(7), kPage);
    });
    add("seat_invitations.count", 200 + kEnds,
        [](OrgStore& org) { return store::count_invitations(org); });
    add("seat_invitations.lock_by", 200 + kEnds,
        [](OrgStore& org) { return store::lock_invitations_by(org, id_of<AdminId>(7)); });
    add("seat_invitations.find_of", 4 + kEnds,
        [](Tx& tx) { return store::find_invitations_of(tx, "a7@x", Timestamp(), kPage); });
    calls.push_back(measured(
        {"seat_invitations.lock", "seat_invitations.find"}, kEnds,
        [](OrgStore& org) { return store::lock_invitation(org, id_of<rules::InvitationId>(7)); }));
    add("seats.find_organizations", 3 + kEnds,
        [](Tx& tx) { return store::find_seat_organizations(tx, id_of<AdminId>(7)); });
    add("seats.find", 3 * 2 + kEnds,
        [](Tx& tx) { return store::find_seats(tx, id_of<AdminId>(7)); });
    add("attributes.list", 2 * 200 + kEnds,
        [](OrgStore& org) { return store::list_attributes(org); });
    add("attributes.list_shared", 2 * 200 + kEnds,
        [](OrgStore& org) { return store::list_attributes_for_writing(org); });
    add("attributes.count", 200 + kEnds,
        [](OrgStore& org) { return store::count_attributes(org); });
    add("attributes.sum_choice_bytes", 200 + kEnds,
        [](OrgStore& org) { return store::sum_choice_bytes(org); });
    add("attributes.page", kOnePage,
        [](OrgStore& org) { return store::page_attributes(org, "k1", kPage); });
    // Every second key is revoked.
    add("api_keys.page", 2 * kPage + kEnds,
        [](OrgStore& org) { return store::page_api_keys(org, {}, kBeforeExpiry, kPage); });
    add("api_keys.count_live", 3 * kPage + kEnds,
        [](OrgStore& org) { return store::count_live_api_keys(org, kBeforeExpiry, kPage); });
    add("quotas.use", 8 + kEnds,
        [](OrgStore& org) { return store::quota_use(org, rules::Quota::ReplyBytes, 5); });
    add("audit_log.page", 2 * kPage + kEnds, [](OrgStore& org) {
        return store::page_audit_log(org, {{}, id_of<AuditId>(90)}, {}, kPage);
    });
    add("audit_log.find_at", kOnePage,
        [](OrgStore& org) { return store::find_audit_entry_at(org, {}, kPage); });
    add("audit_log.newest", 2 * kPage + kEnds,
        [](Tx& tx) { return store::newest_audit_entries(tx, {}, kPage); });
    add("mail_outbox.find_due", kOnePage + kEnds, [](Tx& tx) {
        using store::MailUrgency;
        return store::find_due_mails(tx, MailUrgency::Urgent, kEarly, kPage).size() +
               store::find_due_mails(tx, MailUrgency::Normal, kEarly, kPage).size();
    });
    return calls;
}

}  // namespace muster::test
