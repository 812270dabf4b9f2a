// service/connections/tokens.hpp: exchanging a code for tokens, and all results of a refresh,
// against a real endpoint.
#include "service/connections/tokens.hpp"

#include "base/log.hpp"
#include "db/connections.hpp"
#include "unit/base/logged.hpp"

#include <atomic>

using namespace muster;
using rules::ConnectionStatus;
using rules::TokenFailure;
using service::RefreshState;
using test::holds;
using test::kHour;
using test::kMark;
using test::kMinute;
using test::ProviderContext;
using test::ProviderServer;
using test::ServedRequest;

namespace {

struct Tokens : test::ConnectionFixture {
    std::optional<TokenFailure> exchange(ConnectionId id,
                                         std::map<std::string, std::string> details = {}) {
        return service::exchange_code(mine, admin(),
                                      grant(id, "code" + std::string(kMark), std::move(details)));
    }
    service::RefreshResult refresh(ConnectionId id) {
        return service::refresh_connection(mine, admin(), id, test::kMayWait);
    }
    std::string reason(ConnectionId id) {
        const auto error = test::error_of([&] { refresh(id); });
        if (!error || error->code() != ErrorCode::InvalidState) return "another error, or none";
        return error->details()["reason"].asString();
    }
    // As if the last attempt were some time ago.
    void age(ConnectionId id) {
        client.execute(
            "UPDATE connections SET updated_at = updated_at - 5000, "
            "refreshed_at = refreshed_at - 5000 WHERE id = ?",
            id);
    }
    std::int64_t minutes_until(const std::optional<Timestamp>& when) {
        return when ? (*when - Timestamp::now() + Milliseconds(5000)).count() / 60'000 : -1;
    }
    std::string log_of(const std::function<void()>& work) {
        set_log_level(LogLevel::Info);
        std::string log = test::logged(work);
        set_log_level(LogLevel::Error);
        return log;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_tokens, Tokens)

// ---------------------------------------------------------------------------- exchanging a code

BOOST_AUTO_TEST_CASE(the_tokens_of_a_code_are_stored_sealed) {
    const auto id = pending();
    BOOST_TEST(!exchange(id, {{"realmId", "7"}}).has_value());
    const auto made = row(id);
    BOOST_TEST(made.status == ConnectionStatus::Connected);
    BOOST_TEST(!made.error.has_value());
    BOOST_TEST(tokens(id) == "a1 r1");
    BOOST_TEST(!holds(cell(id, "HEX(tokens)"), to_hex(kMark)));
    BOOST_TEST(made.token_generation == 1);
    BOOST_TEST(holds(made.details, R"("realmId":"7")"));
    BOOST_TEST(minutes_until(made.access_expires_at) == 60);
    BOOST_TEST(minutes_until(made.refresh_due_at) == 45);
    const auto request = server.requests().at(0);
    BOOST_TEST(holds(request.body, "code_verifier=verifier"));
    BOOST_TEST(holds(request.body, "grant_type=authorization_code"));
    BOOST_TEST(audited() == std::vector<std::string>{"admin connection.connected"});
}

BOOST_AUTO_TEST_CASE(the_details_of_a_lookup_are_stored_with_the_tokens) {
    const auto id = pending("mailchimp");
    server.answer([](const ServedRequest& request) {
        if (request.path == "/token") {
            return ProviderServer::answering(
                200, R"({"access_token":"a1hushhush","expires_in":0,"scope":null})");
        }
        const bool is_known = request.headers.at("authorization") == "OAuth a1hushhush";
        return ProviderServer::answering(is_known ? 200 : 401, R"({"dc":"us6"})");
    });
    BOOST_TEST(!exchange(id).has_value());
    BOOST_TEST(server.calls("/lookup") == 1U);
    BOOST_TEST(row(id).details == R"({"dc":"us6"})");
    BOOST_TEST(tokens(id) == "a1");
    BOOST_TEST(!row(id).access_expires_at.has_value());
    BOOST_TEST(!row(id).refresh_due_at.has_value());
    BOOST_TEST(reason(id) == "the provider issued no refresh token for this connection");
}

BOOST_AUTO_TEST_CASE(a_failed_lookup_stores_no_tokens) {
    const auto id = pending("mailchimp");
    server.answer([](const ServedRequest& request) {
        return ProviderServer::answering(
            200, request.path == "/token" ? R"({"access_token":"a1hushhush"})" : "{}");
    });
    BOOST_TEST(exchange(id).value().code == "invalid_lookup");
    BOOST_TEST(row(id).status == ConnectionStatus::Error);
    BOOST_TEST(tokens(id) == "none");
}

BOOST_AUTO_TEST_CASE(a_rejected_code_is_an_error_only_for_a_connection_without_tokens) {
    server.answer(400, R"({"error":"invalid_grant","error_description":"hushhush"})");
    const auto fresh = pending();
    const auto standing = connected();
    const auto before = client.snapshot(acme);
    BOOST_TEST(exchange(standing).value().kind == TokenFailure::Kind::Refused);
    BOOST_TEST(client.snapshot(acme) == before);
    BOOST_TEST(exchange(fresh).value().kind == TokenFailure::Kind::Refused);
    BOOST_TEST(row(fresh).status == ConnectionStatus::Error);
    BOOST_TEST(holds(row(fresh).error.value(), "GitLab"));
    BOOST_TEST(!holds(row(fresh).error.value(), kMark));
    BOOST_TEST(audited().empty());
    BOOST_TEST(reason(fresh) == "this connection was never connected");
}

BOOST_AUTO_TEST_CASE(a_new_consent_replaces_all_tokens_and_details) {
    const auto id = connected();
    set(id, "details", R"({"old":"1"})");
    set(id, "status", "expired");
    server.answer(200, R"({"access_token":"a9hushhush","token_type":"bearer"})");
    BOOST_TEST(!exchange(id).has_value());
    BOOST_TEST(tokens(id) == "a9");  // the refresh token of the other account is removed
    BOOST_TEST(row(id).details == "{}");
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(row(id).token_generation == 2);
}

BOOST_AUTO_TEST_CASE(a_connection_removed_during_the_exchange_stores_no_tokens_and_revokes_them) {
    const auto id = pending();
    server.answer([&](const ServedRequest& request) {
        if (request.path == "/token") test::Client().execute("DELETE FROM connections");
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    BOOST_TEST(test::code_of([&] { exchange(id); }) == ErrorCode::NotFound);
    BOOST_TEST(holds(server.requests("/revoke").at(0).body, "token=r1hushhush"));
    BOOST_TEST(server.calls() == 1U);
}

BOOST_AUTO_TEST_CASE(tokens_of_a_removed_connection_that_are_not_revoked_are_reported) {
    const auto id = pending();
    server.answer([&](const ServedRequest& request) {
        if (request.path == "/revoke") return ProviderServer::answering(503, "");
        if (request.path == "/token") test::Client().execute("DELETE FROM connections");
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    const std::string log =
        log_of([&] { BOOST_TEST(test::code_of([&] { exchange(id); }) == ErrorCode::NotFound); });
    BOOST_TEST(holds(log, "level=warning event=connection.never_given_back"));
    BOOST_TEST(!holds(log, "event=connection.given_back"));
}

BOOST_AUTO_TEST_CASE(a_provider_without_a_configuration_is_not_called) {
    const auto standing = connected();
    own.providers.clear();
    BOOST_TEST(test::code_of([&] { refresh(standing); }) == ErrorCode::ProviderUnavailable);
    BOOST_TEST(server.calls() == 0U);
}

// ---------------------------------------------------------------------------- refreshes

BOOST_AUTO_TEST_CASE(a_refresh_stores_new_tokens_and_the_rotated_one_is_used_next) {
    const auto id = connected();
    const auto result = refresh(id);
    BOOST_TEST(result.state == RefreshState::Done);
    BOOST_TEST(tokens(id) == "a1 r1");
    BOOST_TEST(result.connection.token_generation == 2);
    age(id);
    refresh(id);
    BOOST_TEST(tokens(id) == "a2 r2");
    BOOST_TEST(holds(server.requests().at(0).body, "refresh_token=r0hushhush"));
    BOOST_TEST(holds(server.requests().at(1).body, "refresh_token=r1hushhush"));
    BOOST_TEST(audited() == std::vector<std::string>(2, "admin connection.refreshed"));
    BOOST_TEST(cell(id, "lease_owner") == "-");
}

BOOST_AUTO_TEST_CASE(a_reply_without_a_refresh_token_keeps_the_old_one) {
    const auto id = connected();
    set(id, "details", R"({"hub_id":"5"})");
    server.answer(200, R"({"access_token":"a5hushhush","token_type":"bearer","expires_in":7200})");
    refresh(id);
    BOOST_TEST(tokens(id) == "a5 r0");
    BOOST_TEST(row(id).details == R"({"hub_id":"5"})");
    BOOST_TEST(minutes_until(row(id).refresh_due_at) == 105);
}

BOOST_AUTO_TEST_CASE(a_rejected_refresh_ends_the_connection_with_a_reason) {
    const auto id = connected();
    server.answer(400, R"({"error":"invalid_grant","error_description":"hushhush"})");
    const auto result = refresh(id);
    BOOST_TEST(result.state == RefreshState::Done);
    BOOST_TEST(result.connection.status == ConnectionStatus::Expired);
    BOOST_TEST(holds(result.connection.error.value(), "GitLab"));
    BOOST_TEST(holds(result.connection.error.value(), "invalid_grant"));
    BOOST_TEST(!holds(result.connection.error.value(), kMark));
    BOOST_TEST(!row(id).refresh_due_at.has_value());
    BOOST_TEST(audited() == std::vector<std::string>{"system connection.expired"});
    BOOST_TEST(holds(reason(id), "expired"));
    BOOST_TEST(server.calls() == 1U);
}

BOOST_AUTO_TEST_CASE(access_revoked_at_the_provider_is_reported_as_revoked) {
    const auto id = connected("slack");
    server.answer(200, R"({"ok":false,"error":"token_revoked"})");
    BOOST_TEST(refresh(id).connection.status == ConnectionStatus::Revoked);
    BOOST_TEST(audited() == std::vector<std::string>{"system connection.revoked"});
    BOOST_TEST(holds(reason(id), "revoked"));
}

BOOST_AUTO_TEST_CASE(a_rejected_client_is_reported_to_the_operator) {
    const auto id = connected();
    set(id, "access_expires_at", Timestamp::now() + 2 * kHour);
    server.answer(401, R"({"error":"invalid_client"})");
    const std::string log = log_of([&] { refresh(id); });
    BOOST_TEST(holds(log, "level=warning event=connection.misconfigured"));
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(holds(row(id).error.value(), "operator"));
    BOOST_TEST(minutes_until(row(id).refresh_due_at) == 60);
    set(id, "access_expires_at", Timestamp::now());
    age(id);
    refresh(id);
    BOOST_TEST(row(id).status == ConnectionStatus::Error);
    server.grant();
    age(id);
    refresh(id);
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(!row(id).error.has_value());
    BOOST_TEST(row(id).refresh_attempts == 0);
}

BOOST_AUTO_TEST_CASE(a_failing_provider_is_called_with_growing_delays) {
    const auto id = connected();
    set(id, "access_expires_at", Timestamp::now() + 5 * kHour);
    server.answer(503, "");
    for (const int minutes : {1, 5, 15, 60, 60}) {
        refresh(id);
        BOOST_TEST(minutes_until(row(id).refresh_due_at) == minutes);
        BOOST_TEST(row(id).status == ConnectionStatus::Connected);
        BOOST_TEST(holds(row(id).error.value(), "GitLab"));
        age(id);
    }
    set(id, "access_expires_at", Timestamp::now() + 2 * kMinute);
    refresh(id);
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(minutes_until(row(id).refresh_due_at) ==
               2);  // then the connection must report the error
    age(id);
    set(id, "access_expires_at", Timestamp::now());
    refresh(id);
    BOOST_TEST(row(id).status == ConnectionStatus::Error);
    BOOST_TEST(audited().empty());
}

BOOST_AUTO_TEST_CASE(a_reply_without_valid_tokens_keeps_the_tokens) {
    const auto id = connected();
    std::vector<test::ServedResponse> answers;
    for (const auto& [status, body] :
         std::vector<std::pair<int, std::string>>{{200, "<html>"},
                                                  {200, std::string(70'000, ' ')},
                                                  {302, ProviderServer::granted(1)},
                                                  {429, ""},
                                                  {500, ProviderServer::granted(1)}}) {
        answers.push_back(ProviderServer::answering(status, body));
    }
    answers.emplace_back().hang_up = true;
    for (const auto& answer : answers) {
        server.answer([answer](const ServedRequest&) { return answer; });
        refresh(id);
        BOOST_TEST(tokens(id) == "a0 r0");
        BOOST_TEST(row(id).status == ConnectionStatus::Connected, answer.status);
        BOOST_TEST(row(id).error.has_value());
        age(id);
    }
    BOOST_TEST(server.calls() == answers.size());
    BOOST_TEST(row(id).refresh_attempts == 6);
}

BOOST_AUTO_TEST_CASE(an_unknown_or_foreign_connection_cannot_be_refreshed) {
    BOOST_TEST(test::code_of([&] { refresh(ConnectionId::create()); }) == ErrorCode::NotFound);
    const auto id = connected();
    const service::Actor stranger{organization("Other"), ann};
    BOOST_TEST(test::code_of([&] {
                   service::refresh_connection(mine, stranger, id, test::kMayWait);
               }) == ErrorCode::NotFound);
    BOOST_TEST(test::code_of([&] {
                   service::refresh_connection(mine, stranger, id, test::kNoFreeWorker);
               }) == ErrorCode::NotFound);
    BOOST_TEST(holds(reason(pending()), "not authorized"));
    BOOST_TEST(server.calls() == 0U);
}

BOOST_AUTO_TEST_CASE(a_requested_refresh_is_due_for_the_runner_immediately) {
    const auto id = connected();
    set(id, "refresh_due_at", Timestamp::now() + kHour);
    const auto result = service::refresh_connection(mine, admin(), id, test::kNoFreeWorker);
    BOOST_TEST(result.state == RefreshState::InProgress);
    BOOST_TEST(row(id).refresh_due_at.value() <= Timestamp::now());
    BOOST_TEST(server.calls() == 0U);
    refresh(id);
    BOOST_TEST(service::refresh_connection(mine, admin(), id, test::kNoFreeWorker).state ==
               RefreshState::Done);
    BOOST_TEST(row(id).refresh_due_at.value() > Timestamp::now());
}

// ---------------------------------------------------------------------------- in parallel

namespace {

struct ParallelRefreshes {
    std::int64_t done = 0;
    std::int64_t under_way = 0;
};

// Twenty workers, each with an open connection to the database.
ParallelRefreshes refresh_at_once(Tokens& fixture, ConnectionId id, std::atomic<int>& waiting) {
    constexpr int kWorkers = 20;
    std::vector<std::unique_ptr<ProviderContext>> contexts;
    for (int i = 0; i < kWorkers; ++i) {
        contexts.push_back(std::make_unique<ProviderContext>(fixture.own));
        contexts.back()->as(fixture.acme, [](service::OrgTransaction&) { return true; });
    }
    std::vector<std::optional<RefreshState>> states(kWorkers);  // nullopt: the call came too late
    test::in_parallel(kWorkers, [&](int i) {
        const auto at = static_cast<std::size_t>(i);
        (void)test::code_of([&] {
            states[at] =
                service::refresh_connection(contexts[at]->mine, fixture.admin(), id, test::kMayWait)
                    .state;
        });
        ++waiting;
    });
    return {std::count(states.begin(), states.end(), RefreshState::Done),
            std::count(states.begin(), states.end(), RefreshState::InProgress)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(twenty_parallel_refreshes_make_one_call_to_a_slow_provider) {
    const auto id = connected();
    std::atomic<int> others{0};
    server.answer([&](const ServedRequest&) {
        // Replies only after all other workers have got their result.
        (void)test::until([&] { return others == 19; });
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    const ParallelRefreshes refreshes = refresh_at_once(*this, id, others);
    BOOST_TEST(server.calls() == 1U);
    BOOST_TEST(refreshes.done == 1);
    BOOST_TEST(refreshes.under_way == 19);
    BOOST_TEST(tokens(id) == "a1 r1");
    BOOST_TEST(row(id).token_generation == 2);
}

BOOST_AUTO_TEST_CASE(twenty_parallel_refreshes_make_one_call_to_a_fast_provider) {
    for (const bool grants : {true, false}) {
        const auto id = connected();
        if (!grants) server.answer(503, "");
        const auto before = server.calls();
        std::atomic<int> others{0};
        const ParallelRefreshes refreshes = refresh_at_once(*this, id, others);
        BOOST_TEST(server.calls() == before + 1);
        BOOST_TEST(refreshes.done >= 1);
        BOOST_TEST(refreshes.done + refreshes.under_way == 20);
        BOOST_TEST(row(id).token_generation == (grants ? 2 : 1));
    }
}

// ---------------------------------------------------------------------------- leases

BOOST_AUTO_TEST_CASE(tokens_are_stored_even_if_the_lease_was_lost) {
    const auto id = connected();
    server.answer([&](const ServedRequest&) {
        test::Client().execute("UPDATE connections SET lease_owner = ?", Uuid::v7());
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    refresh(id);
    BOOST_TEST(tokens(id) == "a1 r1");
    BOOST_TEST(cell(id, "lease_owner") == "-");
}

BOOST_AUTO_TEST_CASE(older_tokens_and_failures_never_overwrite_newer_tokens) {
    for (const int status : {200, 400}) {
        const auto id = connected();
        server.answer([&, id](const ServedRequest&) {
            test::Client().execute(
                "UPDATE connections SET token_generation = 2, tokens = ?, lease_owner = NULL, "
                "lease_until = 0 WHERE id = ?",
                service::seal_tokens(context.keys, acme, id, {Secret("newer"), {}}), id);
            return ProviderServer::answering(status, status == 200
                                                         ? ProviderServer::granted(1)
                                                         : R"({"error":"invalid_grant"})");
        });
        const auto result = refresh(id);
        BOOST_TEST(result.connection.status == ConnectionStatus::Connected);
        BOOST_TEST(tokens(id) == "newer");
        BOOST_TEST(row(id).token_generation == 2);
    }
    BOOST_TEST(audited().empty());
}

BOOST_AUTO_TEST_CASE(a_rejection_under_a_lost_lease_is_not_written) {
    const auto id = connected();
    server.answer([&](const ServedRequest&) {
        test::Client().execute("UPDATE connections SET lease_owner = ?", Uuid::v7());
        return ProviderServer::answering(400, R"({"error":"invalid_grant"})");
    });
    refresh(id);
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(audited().empty());
}

BOOST_AUTO_TEST_CASE(a_consent_during_a_refresh_wins) {
    const auto id = connected();
    server.answer([&](const ServedRequest& request) {
        if (holds(request.body, "authorization_code"))
            return ProviderServer::answering(200, ProviderServer::granted(7));
        ProviderContext station(own);
        (void)service::exchange_code(station.mine, admin(), grant(id));
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    refresh(id);
    BOOST_TEST(tokens(id) == "a7 r7");
}

// ---------------------------------------------------------------------------- the database

namespace {

// Makes the first writes of new tokens by one connection fail. The count is a session variable,
// which survives a rollback; `name` must be new for the connection.
struct Outage {
    Outage(test::Client& client, const std::string& name, int failures)
        : trigger(client,
                  "CREATE TRIGGER outage BEFORE UPDATE ON connections FOR EACH ROW BEGIN "
                  "IF NOT (NEW.tokens <=> OLD.tokens) THEN SET @" +
                      name + " = COALESCE(@" + name + ", 0) + 1; IF @" + name +
                      " <= " + std::to_string(failures) +
                      " THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; "
                      "END IF; END IF; END",
                  "DROP TRIGGER outage") {}
    test::SchemaChange trigger;
};

}  // namespace

BOOST_AUTO_TEST_CASE(tokens_that_cannot_be_written_at_first_are_written_later) {
    const auto id = connected();
    const auto other = pending();
    {
        const Outage outage(client, "first", 7);  // more failures than one transaction has attempts
        refresh(id);
    }
    BOOST_TEST(tokens(id) == "a1 r1");
    {
        const Outage outage(client, "second", 7);
        BOOST_TEST(!exchange(other).has_value());
    }
    BOOST_TEST(tokens(other) == "a2 r2");
    BOOST_TEST(server.calls() == 2U);
    BOOST_TEST(audited().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_database_connection_lost_during_the_call_loses_no_tokens) {
    const auto id = connected();
    const auto session = database.autocommit(test::session_of);
    server.answer([&](const ServedRequest&) {
        test::Client().kill(session);
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    refresh(id);
    BOOST_TEST(tokens(id) == "a1 r1");
}

BOOST_AUTO_TEST_SUITE_END()
