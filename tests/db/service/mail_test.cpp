// service/mail.hpp, jobs/kinds.hpp: queued mail reaches a real mail server, once without failures
// and at least once with them, and its content is never stored in clear text.
#include "service/mail.hpp"

#include "base/log.hpp"
#include "db/fixture.hpp"
#include "jobs/kinds.hpp"
#include "service/operations/monitoring.hpp"
#include "store/mail_outbox.hpp"
#include "unit/base/logged.hpp"
#include "unit/net/loopback_smtp.hpp"

#include "print.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <set>

using namespace muster;
using service::Mail;
using service::MailDispatch;
using test::DatabaseContext;
using test::Fixture;
using test::LoopbackSmtp;

namespace {

constexpr Milliseconds kMinute{60'000};
const Mail kMail{"ann@example.test", "Your code", "Your code is 12345678.\n"};

// A context whose mail goes to that server.
struct MailRunner : DatabaseContext {
    explicit MailRunner(const LoopbackSmtp& server) : own(test::settings()) {
        own.mail.url = server.url();
    }
    int step() {
        return dispatch().step([] { return false; });
    }
    // Until no mail is due; returns how many mails were processed.
    int work() {
        int all = 0;
        while (const int some = step()) all += some;
        return all;
    }
    MailDispatch& dispatch() {
        if (!made) made = std::make_unique<MailDispatch>(mine);
        return *made;
    }

    Settings own;
    service::Context mine{database, own, context.keys};
    std::unique_ptr<MailDispatch> made;
};

struct MailQueue : Fixture {
    void queue(const Mail& mail = kMail, Milliseconds life = 5 * kMinute) {
        const Timestamp now = Timestamp::now();
        database.transaction(
            [&](db::Tx& tx) { service::queue_mail(tx, context.keys, mail, now, now + life); });
    }
    void queue_urgent(const std::string& to = "code@example.test") {
        const Timestamp now = Timestamp::now();
        database.transaction([&](db::Tx& tx) {
            service::queue_urgent_mail(tx, context.keys, {to, kMail.subject, kMail.text}, now,
                                       now + 5 * kMinute);
        });
    }
    std::vector<MailId> due(store::MailUrgency urgency, Timestamp now = Timestamp::now()) {
        return database.autocommit(
            [&](db::Tx& tx) { return store::find_due_mails(tx, urgency, now, 9); });
    }
    // Makes mail due that was postponed by less than `span`.
    void pass(Milliseconds span) {
        client.execute("UPDATE mail_outbox SET next_attempt_at = next_attempt_at - ?",
                       span.count());
    }
    std::int64_t waiting() { return client.number("SELECT COUNT(*) FROM mail_outbox"); }
    void make_due() { client.execute("UPDATE mail_outbox SET next_attempt_at = 0"); }
    void end_leases() { client.execute("UPDATE mail_outbox SET lease_until = 0"); }
    std::string content() { return client.value("SELECT content FROM mail_outbox"); }
};

// The log of `work`, including levels that main.cpp disables.
std::string logged(const std::function<void()>& work) {
    set_log_level(LogLevel::Info);
    std::string log = test::logged(work);
    set_log_level(LogLevel::Error);
    return log;
}

LoopbackSmtp::Script answering(std::string step, std::string reply) {
    return [step = std::move(step), reply = std::move(reply)](std::string_view at) {
        return at == step ? reply : std::string();
    };
}

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// In the order of their arrival.
std::vector<std::string> recipients_at(const LoopbackSmtp& server) {
    std::vector<std::string> all;
    for (const auto& mail : server.mails()) all.push_back(mail.to);
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mail, MailQueue)

// ---------------------------------------------------------------------------- queueing

BOOST_AUTO_TEST_CASE(queued_mail_cannot_be_read_without_the_key) {
    queue();
    const std::string sealed = content();
    for (const char* part : {"ann", "example.test", "12345678", "Your code"}) {
        BOOST_TEST(!holds(sealed, part));
    }
}

BOOST_AUTO_TEST_CASE(a_decoy_has_the_size_of_a_mail_for_any_address) {
    std::set<std::size_t> sizes;
    for (const std::string& to :
         {std::string(), std::string("a@b.c"), std::string("ann@example.test"),
          std::string(242, 'l') + "@example.com", "\"" + std::string(100, '\\') + "\"@b.c"}) {
        queue({to, kMail.subject, kMail.text});
        sizes.insert(content().size());
        client.run("DELETE FROM mail_outbox");
    }
    BOOST_TEST(sizes.size() == 1U);
    queue({"ann@example.test", "s", std::string(5000, 'x')});
    BOOST_TEST(content().size() > *sizes.begin());
}

BOOST_AUTO_TEST_CASE(an_invalid_address_is_not_queued) {
    for (const std::string& to : {std::string("a@b.c\r\nBcc: x@y.z"),
                                  std::string(251, 'a') + "@b.c", std::string("a\0@b.c", 6)}) {
        BOOST_CHECK_THROW(queue({to, "s", "t"}), std::invalid_argument);
    }
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_mail_is_not_queued_if_its_transaction_rolls_back) {
    BOOST_CHECK_THROW(database.transaction([&](db::Tx& tx) {
        service::queue_mail(tx, context.keys, kMail, Timestamp::now(), Timestamp::now() + kMinute);
        throw std::runtime_error("x");
    }),
                      std::runtime_error);
    BOOST_TEST(waiting() == 0);
}

// ---------------------------------------------------------------------------- sending

BOOST_AUTO_TEST_CASE(a_mail_is_delivered_and_deleted) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue({"ann@example.test", "Your \u00e7ode", "Your code is 12345678.\n"});
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 1); });
    BOOST_TEST(waiting() == 0);
    BOOST_TEST(server.mails().size() == 1U);
    const auto mail = server.mails().at(0);
    BOOST_TEST(mail.from.starts_with("<muster@club.example>"));
    BOOST_TEST(mail.to == "<ann@example.test>");
    BOOST_TEST(holds(mail.data, "Subject: =?UTF-8?Q?Your_=C3=A7ode?=\r\n"));
    BOOST_TEST(holds(mail.data, "\r\n\r\nYour code is 12345678.\r\n"));
    BOOST_TEST(holds(log, "event=mail.sent mail="));
    BOOST_TEST(!holds(log, "ann@"));
    BOOST_TEST(postman.work() == 0);
}

BOOST_AUTO_TEST_CASE(a_decoy_is_deleted_without_being_sent) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue({"", kMail.subject, kMail.text});
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 1); });
    BOOST_TEST(waiting() == 0);
    BOOST_TEST(server.commands().empty());
    BOOST_TEST(log == "");
}

BOOST_AUTO_TEST_CASE(mail_is_sent_in_order) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    std::vector<std::string> expected;
    for (int i = 0; i < 12; ++i) {
        const std::string to = "m" + std::to_string(i) + "@example.test";
        queue({to, "s", "t"});
        client.execute("UPDATE mail_outbox SET next_attempt_at = ? WHERE next_attempt_at > 100", i);
        expected.push_back("<" + to + ">");
    }
    BOOST_TEST(postman.work() == 12);
    BOOST_TEST(recipients_at(server) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(urgent_mail_is_sent_before_mail_that_waits_longer) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    for (int i = 0; i < 12; ++i) queue();
    queue_urgent("first@example.test");
    queue_urgent("second@example.test");
    BOOST_TEST(postman.work() == 14);
    const auto arrived = recipients_at(server);
    BOOST_TEST_REQUIRE(arrived.size() == 14U);
    BOOST_TEST(arrived[0] == "<first@example.test>");
    BOOST_TEST(arrived[1] == "<second@example.test>");
}

BOOST_AUTO_TEST_CASE(urgent_mail_waits_for_one_other_mail_at_most) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    for (int i = 0; i < 5; ++i) queue();
    int mails = 0;
    (void)postman.dispatch().step([&] {
        if (++mails == 2) queue_urgent();  // right before the second mail
        return false;
    });
    const auto arrived = recipients_at(server);
    BOOST_TEST_REQUIRE(arrived.size() == 6U);
    BOOST_TEST(arrived[2] == "<code@example.test>");
}

BOOST_AUTO_TEST_CASE(urgent_mail_does_not_stop_other_mail) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue();
    for (int i = 0; i < 20; ++i) queue_urgent();
    (void)postman.step();
    const auto arrived = recipients_at(server);
    BOOST_TEST(std::count(arrived.begin(), arrived.end(), "<ann@example.test>") == 1);
    BOOST_TEST(arrived.size() < 21U);
}

BOOST_AUTO_TEST_CASE(postponed_urgent_mail_waits_for_its_time_and_stays_urgent) {
    std::atomic<bool> is_busy{true};
    const LoopbackSmtp server([&](std::string_view step) {
        return is_busy && step == "RCPT" ? std::string("450 later") : "";
    });
    MailRunner postman(server);
    queue_urgent();
    BOOST_TEST(postman.step() == 1);
    BOOST_TEST(client.number("SELECT attempts FROM mail_outbox") == 1);
    const Timestamp now = Timestamp::now();
    BOOST_TEST(due(store::MailUrgency::Urgent, now - kMinute).empty());
    BOOST_TEST(due(store::MailUrgency::Normal, now + kMinute).empty());
    const auto ids = due(store::MailUrgency::Urgent, now + kMinute);
    BOOST_TEST_REQUIRE(ids.size() == 1U);
    database.transaction([&](db::Tx& tx) {
        const Timestamp early = now - kMinute;
        BOOST_TEST(!store::claim_mail(tx, ids[0], Uuid::v7(), early, early + kMinute));
    });
    for (int i = 0; i < 6; ++i) queue();
    is_busy = false;
    pass(kMinute);
    BOOST_TEST(postman.work() == 7);
    BOOST_TEST(recipients_at(server).at(0) == "<code@example.test>");
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_temporary_rejection_delays_the_mail_and_a_later_attempt_sends_it) {
    std::atomic<bool> is_busy{true};
    const LoopbackSmtp server([&](std::string_view step) {
        return is_busy && step == "RCPT" ? std::string("450 later, ann@example.test") : "";
    });
    MailRunner postman(server);
    queue({kMail.to, kMail.subject, kMail.text}, Milliseconds(3'600'000));
    std::string log;
    for (const std::int64_t expected : {1'000, 5'000, 30'000, 120'000, 600'000, 600'000}) {
        make_due();
        const Timestamp before = Timestamp::now();
        log += logged([&] { BOOST_TEST(postman.work() == 1); });
        const auto pause =
            client.number("SELECT next_attempt_at FROM mail_outbox") - before.milliseconds();
        BOOST_TEST(pause >= expected);
        BOOST_TEST(pause < expected + 5000);
        BOOST_TEST(postman.work() == 0);  // not before its time
    }
    BOOST_TEST(client.number("SELECT attempts FROM mail_outbox") == 6);
    BOOST_TEST(holds(log, "level=warning event=mail.postponed"));
    BOOST_TEST(holds(log, "450"));
    BOOST_TEST(!holds(log, "ann@"));
    is_busy = false;
    make_due();
    BOOST_TEST(postman.work() == 1);
    BOOST_TEST(server.mails().size() == 1U);
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(no_attempt_is_scheduled_after_the_mail_expires) {
    const LoopbackSmtp server(answering("RCPT", "450 later"));
    MailRunner postman(server);
    queue(kMail, Milliseconds(20'000));
    client.execute("UPDATE mail_outbox SET attempts = 4");
    BOOST_TEST(postman.work() == 1);
    BOOST_TEST(client.number("SELECT expires_at - next_attempt_at FROM mail_outbox") == 0);
}

BOOST_AUTO_TEST_CASE(an_expired_mail_is_deleted_and_logged) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue(kMail, Milliseconds(0));
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 1); });
    BOOST_TEST(holds(log, "event=mail.expired mail="));
    BOOST_TEST(!holds(log, "ann@"));
    BOOST_TEST(waiting() == 0);
    BOOST_TEST(server.commands().empty());
}

BOOST_AUTO_TEST_CASE(a_permanent_rejection_deletes_the_mail_and_is_logged_without_the_address) {
    const LoopbackSmtp server(answering("RCPT", "550 no ann@example.test here"));
    MailRunner postman(server);
    queue();
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 1); });
    BOOST_TEST(holds(log, "level=error event=mail.refused mail="));
    BOOST_TEST(holds(log, "550"));
    BOOST_TEST(!holds(log, "ann"));
    BOOST_TEST(!holds(log, "12345678"));
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(an_unreadable_mail_waits_for_a_runner_with_the_key_until_it_expires) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue();
    queue();
    // One is moved to the row of the other, one is truncated.
    client.run("UPDATE mail_outbox a JOIN mail_outbox b ON a.id < b.id SET a.content = b.content");
    client.run("UPDATE mail_outbox SET content = LEFT(content, 40) ORDER BY id DESC LIMIT 1");
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 2); });
    BOOST_TEST(holds(log, "event=mail.postponed mail="));
    BOOST_TEST(holds(log, "cannot be opened"));
    BOOST_TEST(waiting() == 2);
    client.run("UPDATE mail_outbox SET next_attempt_at = 0, expires_at = 1");
    const std::string later = logged([&] { BOOST_TEST(postman.work() == 2); });
    BOOST_TEST(holds(later, "event=mail.expired mail="));
    BOOST_TEST(waiting() == 0);
    BOOST_TEST(server.commands().empty());
}

BOOST_AUTO_TEST_CASE(sealed_content_that_is_not_a_mail_is_deleted) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    for (const std::string text : {"", "[]", "{}", "{\"to\":1,\"subject\":\"\",\"text\":\"\"}",
                                   "nonsense", "{\"to\":\"a@b.c\",\"subject\":\"\"}"}) {
        const MailId id = MailId::create();
        database.transaction([&](db::Tx& tx) {
            store::insert_mail(tx, store::MailUrgency::Normal, id,
                               context.keys.seal(text, "mail:" + id.text()), Timestamp::now(),
                               Timestamp::now() + kMinute);
        });
    }
    const std::string log = logged([&] { BOOST_TEST(postman.work() == 6); });
    BOOST_TEST(holds(log, "event=mail.failed"));
    BOOST_TEST(waiting() == 0);
    BOOST_TEST(server.commands().empty());
}

// ---------------------------------------------------------------------------- leases

BOOST_AUTO_TEST_CASE(a_mail_of_a_crashed_runner_is_sent_after_the_lease_expires) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue();
    const MailId id = due(store::MailUrgency::Normal).at(0);
    const Uuid dead = Uuid::v7();
    const Timestamp now = Timestamp::now();
    database.transaction(
        [&](db::Tx& tx) { BOOST_TEST(store::claim_mail(tx, id, dead, now, now + kMinute)); });
    BOOST_TEST(postman.work() == 0);
    BOOST_TEST(server.mails().empty());
    end_leases();
    BOOST_TEST(postman.work() == 1);
    BOOST_TEST(server.mails().size() == 1U);
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_mail_resent_after_a_crash_is_identical) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    queue();
    {
        const test::SchemaChange refused(
            client,
            "CREATE TRIGGER keep_mail BEFORE DELETE ON mail_outbox FOR EACH ROW "
            "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'",
            "DROP TRIGGER keep_mail");
        BOOST_CHECK_THROW(postman.work(), db::DbError);
    }
    BOOST_TEST(waiting() == 1);
    end_leases();
    BOOST_TEST(postman.work() == 1);
    const auto mails = server.mails();
    BOOST_TEST(mails.size() == 2U);
    BOOST_TEST(mails.at(0).data == mails.at(1).data);  // including its Message-ID
}

BOOST_AUTO_TEST_CASE(parallel_runners_send_each_mail_once) {
    const LoopbackSmtp server;
    for (int i = 0; i < 60; ++i) queue({"m" + std::to_string(i) + "@example.test", "s", "t"});
    test::in_parallel(3, [&](int) {
        MailRunner postman(server);
        postman.work();
    });
    std::multiset<std::string> arrived;
    for (const auto& mail : server.mails()) arrived.insert(mail.to);
    BOOST_TEST(arrived.size() == 60U);
    BOOST_TEST(std::set(arrived.begin(), arrived.end()).size() == 60U);
    BOOST_TEST(waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_runner_that_lost_its_lease_does_not_delay_the_mail) {
    queue();
    const auto ids = due(store::MailUrgency::Normal);
    const Uuid first = Uuid::v7();
    const Uuid second = Uuid::v7();
    const Timestamp now = Timestamp::now();
    database.transaction([&](db::Tx& tx) {
        BOOST_TEST(store::claim_mail(tx, ids.at(0), first, now, now + kMinute));
        BOOST_TEST(!store::claim_mail(tx, ids.at(0), second, now, now + kMinute));
        BOOST_TEST(!store::claim_mail(tx, ids.at(0), second, now + kMinute - Milliseconds(1),
                                      now + 2 * kMinute));
        BOOST_TEST(store::claim_mail(tx, ids.at(0), second, now + kMinute, now + 2 * kMinute));
        BOOST_TEST(!store::find_claimed_mail(tx, ids.at(0), first).has_value());
        store::postpone_mail(tx, ids.at(0), first, now + 9 * kMinute);
        BOOST_TEST(store::find_claimed_mail(tx, ids.at(0), second)->attempts == 1);
    });
    BOOST_TEST(client.number("SELECT next_attempt_at FROM mail_outbox") <= now.milliseconds());
}

// ---------------------------------------------------------------------------- the runner

BOOST_AUTO_TEST_CASE(a_turn_sends_mail_and_stops_at_its_deadline) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    const auto work = jobs::mail_work(postman.mine);
    const jobs::Deadline later(kMinute);
    BOOST_TEST(!work.turn(later));
    queue();
    BOOST_TEST(!work.turn(jobs::Deadline(Milliseconds(0))));
    BOOST_TEST(waiting() == 1);
    BOOST_TEST(work.turn(later));
    BOOST_TEST(server.mails().size() == 1U);
}

namespace {

bool slow_turn(const jobs::Deadline& deadline) {
    deadline.pause(Milliseconds(60'000));
    return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(mail_does_not_wait_for_work_of_another_kind) {
    const LoopbackSmtp server;
    MailRunner postman(server);
    const std::vector<jobs::Work> work = {{"slow", slow_turn}, jobs::mail_work(postman.mine)};
    const Timestamp began = Timestamp::now();
    const jobs::Deadline deadline(Milliseconds(3'000));
    auto running = std::async(std::launch::async, [&] { return jobs::run(work, deadline); });
    queue();
    const bool arrived = test::until([&] { return !server.mails().empty(); });
    const auto took = Timestamp::now() - began;
    BOOST_TEST(running.get());
    BOOST_TEST(arrived);
    BOOST_TEST(took.count() < 1500);
}

// ---------------------------------------------------------------------------- monitoring

BOOST_AUTO_TEST_CASE(metrics_and_health_report_waiting_mail) {
    BOOST_TEST(holds(service::job_metrics(context), "muster_mail_queued 0\n"));
    BOOST_TEST(holds(service::job_metrics(context), "muster_mail_oldest_seconds 0\n"));
    queue();
    queue();
    BOOST_TEST(service::mail_problem(context) == "");
    client.execute("UPDATE mail_outbox SET created_at = created_at - 301000 ORDER BY id LIMIT 1");
    const std::string figures = service::job_metrics(context);
    BOOST_TEST(holds(figures, "muster_mail_queued 2\n"));
    BOOST_TEST(holds(figures, "muster_mail_oldest_seconds 301\n"));
    BOOST_TEST(holds(service::mail_problem(context), "mail has been waiting for 5 minutes"));
}

BOOST_AUTO_TEST_SUITE_END()
