// service/access/notices.hpp: the owners get mail about new access to their organization, a bounded
// number per day and without secrets.
#include "service/access/notices.hpp"

#include "db/admins.hpp"
#include "service/access/api_keys.hpp"
#include "service/pages/publishable_keys.hpp"

using namespace muster;
using rules::PublishableKeyKind;
using service::IssuedKey;
using test::AdminFixture;
using test::kDay;

namespace {

struct Notices : AdminFixture {
    Notices() { client.run("DELETE FROM mail_outbox"); }

    IssuedKey issue(const std::string& name, AdminId by) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, by}, Timestamp::now()};
            return service::issue_api_key(transaction, context.keys, {name, {}, {}, {}});
        });
    }
    rules::PublishableKey issue_page_key(AdminId by) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, by}, Timestamp::now()};
            return service::issue_publishable_key(transaction, context.keys,
                                                  PublishableKeyKind::Tracking,
                                                  {"shop", {"https://shop.example"}, {}, {}, {}});
        });
    }
    // Forgets older mails.
    void change_page_key(const rules::PublishableKey& key,
                         const service::PublishableKeyChange& change) {
        client.run("DELETE FROM mail_outbox");
        database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
            (void)service::change_publishable_key(transaction, context.keys, key.kind, key.id,
                                                  change, {100, 200});
        });
    }
    AdminId seat(const std::string& email, std::string_view role) {
        return service::add_admin(context, acme, email, role).id;
    }
    static std::string owner_address(int number) {
        return "owner" + std::to_string(number) + "@example.test";
    }
    // owner10@… and so on, in the order of their seats. Their notices do not count.
    std::vector<AdminId> add_owners(int count) {
        std::vector<AdminId> owners;
        for (int i = 0; i < count; ++i) owners.push_back(seat(owner_address(10 + i), "owner"));
        client.run("DELETE FROM mail_outbox");
        client.run("DELETE FROM guess_budgets");
        return owners;
    }
    // The addressees, sorted; deletes the mail.
    std::vector<std::string> take_addressees() {
        std::vector<std::string> all;
        for (const auto& mail : mails()) all.push_back(mail.to);
        std::sort(all.begin(), all.end());
        client.run("DELETE FROM mail_outbox");
        return all;
    }
    static bool holds(const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    }
};

using Texts = std::vector<std::string>;

constexpr std::string_view kLast = "last mail of this kind today";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(notices, Notices)

BOOST_AUTO_TEST_CASE(a_new_key_is_mailed_to_the_owners_and_to_the_admin_who_issued_it) {
    const AdminId bob = seat("bob@example.test", "admin");
    seat("cat@example.test", "admin");
    seat("eve@example.test", "viewer");
    service::add_admin(context, organization("Other"), "dan@example.test", "owner");
    client.run("DELETE FROM mail_outbox");
    const auto issued = issue("CRM", bob);
    const std::string text = mails().at(0).text;
    BOOST_TEST(mails().at(0).subject == "Muster: new API key");
    for (const std::string& part : {std::string("\"CRM\""), issued.key.id.text(), acme.text(),
                                    std::string("\"Acme\""), std::string("bob@example.test")}) {
        BOOST_TEST(holds(text, part), part << " is not in " << text);
    }
    BOOST_TEST(!holds(text, issued.secret.reveal()));
    BOOST_TEST(!holds(text, issued.key.last_four));
    BOOST_TEST(take_addressees() == (Texts{std::string(kAnn), "bob@example.test"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_key_of_the_operator_and_a_rotation_are_mailed_too) {
    const auto issued = service::issue_api_key(context, acme, {"CRM", {}, {}, {}});
    BOOST_TEST(holds(mails().at(0).text, "by: the operator"));
    BOOST_TEST(take_addressees() == Texts{std::string(kAnn)}, boost::test_tools::per_element());
    database.transaction([&](db::Tx& tx) {
        service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
        (void)service::rotate_api_key(transaction, context.keys, issued.key.id, Milliseconds(0));
    });
    BOOST_TEST(!holds(mails().at(0).text, issued.key.id.text()));  // the successor's id
    BOOST_TEST(take_addressees() == Texts{std::string(kAnn)}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_later_end_of_a_key_is_mailed_and_each_end_is_logged) {
    const Timestamp end = Timestamp::now() + kDay;
    const auto id = service::issue_api_key(context, acme, {"CRM", end, 5, {}}).key.id;
    const auto mailed_to = [&](const std::optional<Timestamp>& wanted) {
        client.run("DELETE FROM mail_outbox");
        database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
            (void)service::change_api_key(transaction, context.keys, id, {.expires_at = wanted},
                                          {100, 200});
        });
        return take_addressees();
    };
    BOOST_TEST(mailed_to(end - test::kHour).empty());
    BOOST_TEST(mailed_to(end) == Texts{std::string(kAnn)}, boost::test_tools::per_element());
    BOOST_TEST(mailed_to(std::nullopt) == Texts{std::string(kAnn)},
               boost::test_tools::per_element());
    BOOST_TEST(log(acme).at(0).details == R"({"burst":"default","expires_at":"never","name":"CRM",)"
                                          R"("previous_burst":"default","previous_expires_at":")" +
                                              end.text() + R"(","previous_rate":"5","rate":"5"})");
    BOOST_TEST(mailed_to(end).empty());
}

BOOST_AUTO_TEST_CASE(a_new_key_of_pages_is_mailed_to_the_owners_and_to_the_admin_who_issued_it) {
    const AdminId bob = seat("bob@example.test", "admin");
    client.run("DELETE FROM mail_outbox");
    const auto key = issue_page_key(bob);
    const auto mail = mails().at(0);
    BOOST_TEST(mail.subject == "Muster: new tracking key");
    for (const std::string& part :
         {std::string("tracking key: \"shop\""), key.id.text(), acme.text(),
          std::string("by: bob@example.test"), std::string("revoke the key under Page keys")}) {
        BOOST_TEST(holds(mail.text, part), part << " is not in " << mail.text);
    }
    BOOST_TEST(!holds(mail.text, key.token));
    BOOST_TEST(take_addressees() == (Texts{std::string(kAnn), "bob@example.test"}),
               boost::test_tools::per_element());
    service::issue_publishable_key(context, acme, PublishableKeyKind::Content,
                                   {"blog", {"https://blog.example"}, {}, {}, {}});
    BOOST_TEST(mails().at(0).subject == "Muster: new content key");
    BOOST_TEST(holds(mails().at(0).text, "by: the operator"));
    BOOST_TEST(take_addressees() == Texts{std::string(kAnn)}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_new_origin_of_a_key_of_pages_is_mailed_and_a_removed_one_is_not) {
    const auto key = issue_page_key(ann);
    const auto move_to = [&](std::vector<std::string> origins) {
        service::PublishableKeyChange change;
        change.allowed_origins = std::move(origins);
        change_page_key(key, change);
    };
    move_to({"https://a.example", "https://shop.example", "https://b.example"});
    BOOST_TEST(mails().at(0).subject == "Muster: new origin of a tracking key");
    BOOST_TEST(holds(mails().at(0).text, "origin of a tracking key: \"shop\""));
    BOOST_TEST(holds(mails().at(0).text,
                     "\n        https://a.example\n        https://b.example\n    organization:"));
    BOOST_TEST(holds(mails().at(0).text, key.id.text()));
    BOOST_TEST(take_addressees() == Texts{std::string(kAnn)}, boost::test_tools::per_element());
    move_to({"https://b.example"});
    BOOST_TEST(mails().empty());
}

BOOST_AUTO_TEST_CASE(a_mail_shows_all_new_origins_and_the_end_of_a_long_one) {
    const auto key = issue_page_key(ann);
    const std::string long_origin = "https://" + std::string(60, 'a') + ".evil.example";
    service::PublishableKeyChange change;
    change.allowed_origins = {long_origin};
    for (int i = 0; i < 6; ++i) {
        change.allowed_origins->push_back("https://" + std::to_string(i) + ".example");
    }
    change_page_key(key, change);
    const std::string text = mails().at(0).text;
    BOOST_TEST(holds(text, "\n        ..." + long_origin.substr(long_origin.size() - 60) + "\n"));
    BOOST_TEST(holds(text, "\n        https://4.example\n        https://5.example\n    organ"));
    const auto audited = [&](const std::string& name) {
        return client.value(
            "SELECT JSON_UNQUOTE(JSON_EXTRACT(details, CONCAT('$.', ?))) FROM audit_log "
            "WHERE action = 'tracking_key.updated'",
            name);
    };
    BOOST_TEST(audited("removed_origins") == "https://shop.example");
    BOOST_TEST(audited("added_origins").starts_with(long_origin + " https://0.example "));
    BOOST_TEST(audited("previous_expires_at") == "never");
}

BOOST_AUTO_TEST_CASE(a_later_end_of_a_key_of_pages_is_mailed_and_an_earlier_one_is_not) {
    const auto key = issue_page_key(ann);
    const auto end_at = [&](std::optional<Timestamp> end) {
        service::PublishableKeyChange change;
        change.expires_at.emplace(end);
        change_page_key(key, change);
    };
    const auto tomorrow = Timestamp::now() + std::chrono::days(1);
    end_at(tomorrow);  // it had no end
    BOOST_TEST(mails().empty());
    const std::vector<std::optional<Timestamp>> ends = {tomorrow + Milliseconds(1), std::nullopt};
    for (const auto& later : ends) {
        end_at(later);
        BOOST_TEST(mails().at(0).subject == "Muster: new longer-lived tracking key");
    }
}

BOOST_AUTO_TEST_CASE(a_new_admin_is_mailed_to_the_others) {
    seat("bob@example.test", "viewer");
    BOOST_TEST(mails().at(0).subject == "Muster: new admin");
    BOOST_TEST(holds(mails().at(0).text, "\"bob@example.test as viewer\""));
    BOOST_TEST(take_addressees() == Texts{std::string(kAnn)}, boost::test_tools::per_element());
    seat("bob@example.test", "viewer");  // has a seat already
    service::add_admin(context, organization("Other"), "dan@example.test", "owner");  // the first
    BOOST_TEST(take_addressees().empty());
}

BOOST_AUTO_TEST_CASE(without_an_owner_the_admins_get_the_mail) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, "one@other.test", "admin");
    service::add_admin(context, other, "two@other.test", "admin");
    service::add_admin(context, other, "eve@other.test", "viewer");
    client.run("DELETE FROM mail_outbox");
    service::issue_api_key(context, other, {"CRM", {}, {}, {}});
    BOOST_TEST(take_addressees() == (Texts{"one@other.test", "two@other.test"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_organization_gets_sixty_mails_a_day_and_the_last_one_says_so) {
    for (int i = 0; i < 65; ++i) issue("key", ann);
    const auto sent = mails();
    BOOST_TEST_REQUIRE(sent.size() == 60U);
    BOOST_TEST(!holds(sent[58].text, kLast));
    BOOST_TEST(holds(sent[59].text, kLast));
    const OrgId other = organization("Other");
    service::add_admin(context, other, "dan@example.test", "owner");
    service::issue_api_key(context, other, {"CRM", {}, {}, {}});
    BOOST_TEST(mails().size() == 61U);
    advance_time(kDay);
    issue("key", ann);
    BOOST_TEST(mails().size() == 62U);
}

BOOST_AUTO_TEST_CASE(each_mail_of_a_notice_counts_towards_those_of_the_day) {
    add_owners(12);
    for (int i = 0; i < 7; ++i) issue("key", ann);
    const auto sent = mails();
    BOOST_TEST_REQUIRE(sent.size() == 60U);  // 5 notices of 11 mails, and one of 5
    BOOST_TEST(!holds(sent[54].text, kLast));
    for (std::size_t i = 55; i < 60; ++i) BOOST_TEST(holds(sent[i].text, kLast));
    BOOST_TEST(sent[55].to == kAnn);  // who issued the key
    BOOST_TEST(sent[59].to == "owner13@example.test");
}

BOOST_AUTO_TEST_CASE(a_notice_goes_to_the_ten_earliest_owners_and_to_the_admins_concerned) {
    const auto owners = add_owners(14);
    Texts expected = {std::string(kAnn)};
    for (int i = 10; i < 19; ++i) expected.push_back(owner_address(i));
    issue("key", owners[1]);
    expected.push_back(owner_address(19));  // the tenth, as owners[1] issued the key
    BOOST_TEST(take_addressees() == expected, boost::test_tools::per_element());
    database.transaction([&](db::Tx& tx) {
        service::OrgTransaction transaction{tx, {acme, owners[12]}, Timestamp::now()};
        service::notify_owners(transaction, context.keys,
                               {.subject = "s", .text = "t", .about = owners[13]});
    });
    expected.pop_back();
    expected.push_back(owner_address(22));
    expected.push_back(owner_address(23));
    BOOST_TEST(take_addressees() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_name_is_shown_in_one_line_and_cut) {
    std::string longest;
    for (int i = 0; i < 255; ++i) longest += "\u00eb";
    std::string shown;
    for (int i = 0; i < 60; ++i) shown += "\u00eb";
    issue(longest, ann);
    issue("a\nSubject: b\u202e", ann);
    BOOST_TEST(holds(mails().at(0).text, "\"" + shown + "...\""));
    BOOST_TEST(holds(mails().at(1).text, R"("a\x0aSubject: b\xe2\x80\xae")"));
}

BOOST_AUTO_TEST_CASE(a_change_that_is_rolled_back_sends_no_mail) {
    BOOST_CHECK_THROW(database.transaction([&](db::Tx& tx) {
        service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
        (void)service::issue_api_key(transaction, context.keys, {"CRM", {}, {}, {}});
        throw std::runtime_error("stop");
    }),
                      std::runtime_error);
    BOOST_TEST(mails().empty());
}

BOOST_AUTO_TEST_SUITE_END()
