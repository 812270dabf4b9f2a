// service/engagement/events.hpp: pages of a member's events in a total order, with insertions and
// deletions between two pages.
#include "service/engagement/events.hpp"
#include "rules/members/fields.hpp"

#include "db/lookups.hpp"
#include "db/members.hpp"
#include "rules/members/member.hpp"
#include "service/members/change.hpp"
#include "store/id_bounds.hpp"

#include <algorithm>
#include <random>
#include <set>

using namespace muster;
using service::EventPage;

namespace {

using Ids = std::vector<EventId>;

const Timestamp kWhen{1'790'000'000'000};

struct ReadBack : test::Fixture {
    rules::Member join(OrgId organization, const std::string& email) {
        rules::MemberFields fields;
        fields.email = email;
        fields.external_id = "crm-1";
        return as(organization,
                  [&](service::OrgTransaction& transaction) {
                      return service::create_member(transaction, fields);
                  })
            .member;
    }

    EventId put(const rules::Member& of, std::int64_t milliseconds) {
        const EventId id = EventId::create();
        client.execute(
            "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, "
            "occurred_at, received_at) VALUES (?, ?, ?, 'visited', '[]', ?, ?)",
            of.organization_id, id, of.member_id, kWhen + Milliseconds(milliseconds), kWhen);
        return id;
    }
    void remove(const EventId& id) {
        client.execute("DELETE FROM engagement_events WHERE id = ?", id);
    }

    EventPage page(std::string_view position = "", int limit = 50) {
        const auto member = test::find_member(context, acme, ann.user_id).value();
        return service::list_engagement_events(context, member, position, limit);
    }
    // All pages of that size; `between` runs after each.
    Ids walk(
        int limit, const std::function<void(const EventPage&)>& between = [](const EventPage&) {}) {
        Ids seen;
        for (std::string position;;) {
            const EventPage found = page(position, limit);
            BOOST_TEST(found.events.size() <= static_cast<std::size_t>(limit));
            BOOST_TEST((found.events.size() == static_cast<std::size_t>(limit) || !found.next));
            for (const auto& event : found.events) seen.push_back(event.id);
            if (!found.next) return seen;
            between(found);
            position = *found.next;
        }
    }

    OrgId acme = organization("Acme");
    OrgId umbrella = organization("Umbrella");
    rules::Member ann = join(acme, "ann@x.test");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engagement_events, ReadBack)

BOOST_AUTO_TEST_CASE(events_are_ordered_by_time_and_then_by_id_newest_first) {
    const EventId early = put(ann, 1);
    const EventId late = put(ann, 3);
    const EventId tie = put(ann, 2);
    const EventId later_tie = put(ann, 2);
    BOOST_TEST(walk(50) == (Ids{late, later_tie, tie, early}));
}

BOOST_AUTO_TEST_CASE(an_event_is_read_back_with_every_field) {
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, member_id, type, action, tags, "
        "metadata, client_event_id, occurred_at, received_at, geo_country, geo_region) "
        "VALUES (?, ?, ?, 'shop.sold', 'bought', ?, ?, 'order-1', ?, ?, 'GB', 'ENG')",
        acme, EventId::create(), ann.member_id, R"(["a \"b\"","\u00e9"])", R"({"price":12.50})",
        kWhen, kWhen + Milliseconds(7));
    const auto event = page().events.at(0);
    BOOST_TEST(event.member_id == ann.member_id);
    BOOST_TEST(event.user_id == ann.user_id);
    BOOST_TEST(event.member_external_id.value() == "crm-1");
    BOOST_TEST((event.source == rules::EventSource::Tracked));
    BOOST_TEST(event.type.value() == "shop.sold");
    BOOST_TEST(event.action == "bought");
    BOOST_TEST(event.tags.text == R"(["a \"b\"","\u00e9"])");
    BOOST_TEST(event.metadata.value().text == "{\"price\":12.50}");
    BOOST_TEST(event.client_event_id.value() == "order-1");
    BOOST_TEST(event.occurred_at == kWhen);
    BOOST_TEST(event.received_at == kWhen + Milliseconds(7));
    BOOST_TEST(event.geo_country.value() == "GB");
    BOOST_TEST(event.geo_region.value() == "ENG");
}

BOOST_AUTO_TEST_CASE(a_damaged_event_is_an_error_and_not_a_malformed_page) {
    put(ann, 0);
    const auto damage = [&](std::string_view tags, std::string_view metadata) {
        client.execute("UPDATE engagement_events SET tags = ?, metadata = ?", tags, metadata);
    };
    for (const char* tags : {"", "x", "{}", "null", "[1]", "[[]]", R"(["a",null])", R"(["a")",
                             R"(["a"],"b":[])", R"(["a"] 1)"}) {
        damage(tags, "{}");
        BOOST_CHECK_THROW((void)page(), db::DbError);
    }
    for (const char* metadata : {"", "x", "{", R"({"a":1},"b":2)", "1 2", R"("a)", "{'a':1}"}) {
        damage("[]", metadata);
        BOOST_CHECK_THROW((void)page(), db::DbError);
    }
    damage(R"([ "a", "b" ])", "null");
    BOOST_TEST(page().events.at(0).tags.text == R"([ "a", "b" ])");
    BOOST_TEST(page().events.at(0).metadata.value().text == "null");
}

BOOST_AUTO_TEST_CASE(omitted_fields_are_empty) {
    put(ann, 0);
    const auto event = page().events.at(0);
    BOOST_TEST(event.tags.text == "[]");
    BOOST_TEST(!event.type);
    BOOST_TEST(!event.metadata);
    BOOST_TEST(!event.client_event_id);
    BOOST_TEST(!event.geo_country);
    BOOST_TEST(!event.geo_region);
}

BOOST_AUTO_TEST_CASE(pages_of_any_size_contain_each_event_once_in_the_same_order) {
    std::mt19937 chance(5);  // NOLINT(cert-msc51-cpp): the same each time
    for (int i = 0; i < 250; ++i) put(ann, std::uniform_int_distribution(0, 40)(chance));
    const Ids all = walk(100);
    BOOST_TEST(all.size() == 250);
    BOOST_TEST(std::set<EventId>(all.begin(), all.end()).size() == 250);
    for (const int limit : {1, 3, 50, 99, 100, 125, 249, 250, 251}) {
        BOOST_TEST(walk(limit) == all, "pages of " << limit);
    }
}

BOOST_AUTO_TEST_CASE(an_exactly_full_page_is_the_last) {
    for (int i = 0; i < 100; ++i) put(ann, i % 3);
    BOOST_TEST(!page("", 100).next.has_value());
    BOOST_TEST(page("", 99).next.has_value());
    BOOST_TEST(page("", 100).events.size() == 100);
}

BOOST_AUTO_TEST_CASE(many_events_of_one_millisecond_are_paged) {
    Ids put_in;
    for (int i = 0; i < 120; ++i) put_in.push_back(put(ann, 5));
    std::reverse(put_in.begin(), put_in.end());  // ids ascend
    BOOST_TEST(walk(7) == put_in);
}

BOOST_AUTO_TEST_CASE(insertions_between_two_pages_do_not_move_later_events) {
    for (int i = 0; i < 40; ++i) put(ann, i / 4);
    const Ids before = walk(50);
    const Ids seen = walk(7, [&](const EventPage& so_far) {
        // One newer than all, and one at the exact time of the next page, after the events seen so
        // far.
        put(ann, 1000);
        const auto at = so_far.events.back().occurred_at - kWhen;
        put(ann, at.count());
    });
    for (const EventId& id : before) {
        BOOST_TEST(std::count(seen.begin(), seen.end(), id) == 1);
    }
    BOOST_TEST(seen == before);
}

BOOST_AUTO_TEST_CASE(an_old_event_that_arrives_late_is_found_at_its_time) {
    for (int i = 0; i < 10; ++i) put(ann, 10 + i);
    Ids came;
    const Ids seen = walk(4, [&](const EventPage&) { came.push_back(put(ann, 0)); });
    BOOST_TEST_REQUIRE(came.size() == 2);
    BOOST_TEST(seen.size() == 12);
    BOOST_TEST(Ids(seen.end() - 2, seen.end()) == (Ids{came[1], came[0]}));
}

BOOST_AUTO_TEST_CASE(deleting_the_event_of_the_cursor_skips_no_other) {
    for (int i = 0; i < 30; ++i) put(ann, i / 3);
    const Ids before = walk(50);
    const Ids seen = walk(4, [&](const EventPage& so_far) { remove(so_far.events.back().id); });
    BOOST_TEST(seen == before);
}

BOOST_AUTO_TEST_CASE(events_at_the_limits_of_time_are_ordered) {
    const EventId first = put(ann, -kWhen.milliseconds());
    const EventId last = put(ann, 4'102'444'800'000 - kWhen.milliseconds());
    BOOST_TEST(walk(1) == (Ids{last, first}));
}

BOOST_AUTO_TEST_CASE(a_member_without_events_has_an_empty_page) {
    BOOST_TEST(page().events.empty());
    BOOST_TEST(!page().next.has_value());
}

BOOST_AUTO_TEST_CASE(events_of_others_and_of_unknown_visitors_are_not_shown) {
    const auto bea = join(acme, "bea@x.test");
    const auto there = join(umbrella, "ann@x.test");
    put(bea, 1);
    put(there, 1);
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, action, tags, occurred_at, "
        "received_at, anonymous_id) VALUES (?, ?, 'visited', '[]', 1, 1, 'v-1')",
        acme, EventId::create());
    const EventId own = put(ann, 1);
    BOOST_TEST(walk(50) == Ids{own});
}

BOOST_AUTO_TEST_CASE(a_new_membership_starts_without_the_events_of_the_previous_one) {
    put(ann, 1);
    as(acme, [&](service::OrgTransaction& transaction) {
        service::remove_member(transaction, ann.user_id);
    });
    ann = join(acme, "ann@x.test");
    BOOST_TEST(page().events.empty());
}

BOOST_AUTO_TEST_CASE(the_events_of_a_member_are_counted_up_to_a_bound) {
    put(join(acme, "bea@x.test"), 1);
    put(join(umbrella, "ann@x.test"), 1);
    const auto total = [&](std::int64_t most) {
        const auto member = test::find_member(context, acme, ann.user_id).value();
        const auto counted = service::count_member_events(context, member, most);
        return std::pair(counted.count, counted.exact);
    };
    BOOST_TEST((total(2) == std::pair<std::int64_t, bool>(0, true)));
    for (int i = 0; i < 3; ++i) put(ann, i);
    BOOST_TEST((total(3) == std::pair<std::int64_t, bool>(3, true)));
    BOOST_TEST((total(2) == std::pair<std::int64_t, bool>(2, false)));
}

BOOST_AUTO_TEST_CASE(the_external_id_of_the_member_is_the_current_one) {
    put(ann, 1);
    client.run("UPDATE members SET external_id = 'crm-2'");
    BOOST_TEST(page().events.at(0).member_external_id.value() == "crm-2");
    client.run("UPDATE members SET external_id = NULL");
    BOOST_TEST(!page().events.at(0).member_external_id.has_value());
}

BOOST_AUTO_TEST_CASE(a_forged_position_is_rejected) {
    const std::string id(16, 'i');
    for (const std::string& position : {std::string("x"), id, id + "x", id + "1x", id + " 1"}) {
        BOOST_CHECK_THROW(page(position), std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(the_organization_sees_its_events_of_a_day_with_those_of_visitors) {
    const auto put_received = [&](std::optional<MemberId> member,
                                  std::optional<std::string> visitor, Timestamp received) {
        const EventId id = EventId(*Uuid::from_bytes(store::id_at(received, '\7')));
        client.execute(
            "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, "
            "anonymous_id, occurred_at, received_at) VALUES (?, ?, ?, 'visited', '[]', ?, 1, ?)",
            acme, id, member, visitor, received);
        return id;
    };
    const Timestamp now = Timestamp::now();
    put_received(ann.member_id, std::nullopt, now - Milliseconds(24L * 3600 * 1000 + 60'000));
    const EventId early =
        put_received(ann.member_id, std::nullopt, now - Milliseconds(23L * 3600 * 1000));
    const EventId gone = put_received(MemberId::create(), std::nullopt, now - Milliseconds(2000));
    const EventId late = put_received(std::nullopt, "v-1", now - Milliseconds(1000));
    const auto ids_of = [](const std::vector<rules::EngagementEvent>& events) {
        Ids ids;
        for (const auto& event : events) ids.push_back(event.id);
        return ids;
    };
    const auto all = service::list_recent_events(context, acme, std::nullopt, 50);
    BOOST_TEST(ids_of(all) == (Ids{late, gone, early}));
    BOOST_TEST(all.at(0).anonymous_id.value() == "v-1");
    BOOST_TEST(!all.at(0).user_id);
    BOOST_TEST(!all.at(1).member_id);
    BOOST_TEST(all.at(2).user_id.value() == ann.user_id);
    BOOST_TEST(all.at(2).member_external_id.value() == "crm-1");
    BOOST_TEST(ids_of(service::list_recent_events(context, acme, late, 50)) == (Ids{gone, early}));
    BOOST_TEST(ids_of(service::list_recent_events(context, acme, late, 1)) == (Ids{gone}));
    BOOST_TEST(service::list_recent_events(context, umbrella, std::nullopt, 50).empty());
}

BOOST_AUTO_TEST_SUITE_END()
