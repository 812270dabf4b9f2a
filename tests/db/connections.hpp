// Connections to a provider for the tests of tokens: a real HTTP server on the loopback.
#pragma once

#include "db/admins.hpp"
#include "service/connections/provider_client.hpp"
#include "service/connections/tokens.hpp"
#include "store/connections/connections.hpp"
#include "store/connections/leases.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace muster::test {

// Every token of these tests contains this mark, so that a search finds each of them.
inline constexpr std::string_view kMark = "hushhush";

inline bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Whether a worker can wait for the provider.
inline const service::TryAcquire kMayWait = [](const rules::Provider&) { return true; };
inline const service::TryAcquire kNoFreeWorker = [](const rules::Provider&) { return false; };

// A provider's endpoints: /token, /lookup and /revoke.
class ProviderServer {
  public:
    using Handler = LoopbackServer::Handler;

    std::string url(const std::string& path) const { return server_.url() + path; }
    // The n-th tokens, which are valid for an hour.
    static std::string granted(std::size_t n, const std::string& more = "") {
        const std::string number = std::to_string(n) + std::string(kMark);
        return R"({"token_type":"bearer","access_token":"a)" + number + R"(","refresh_token":"r)" +
               number + R"(","expires_in":3600)" + more + "}";
    }
    static ServedResponse answering(int status, std::string body) {
        ServedResponse response;
        response.status = status;
        response.body = std::move(body);
        return response;
    }
    // Sets the reply from now on. Without it each call to /token returns tokens.
    void answer(Handler handler) {
        const std::lock_guard lock(mutex_);
        handler_ = std::move(handler);
    }
    void answer(int status, const std::string& body) {
        answer([status, body](const ServedRequest&) { return answering(status, body); });
    }
    void grant() { answer(nullptr); }
    std::vector<ServedRequest> requests(std::string_view path = "/token") const {
        const std::lock_guard lock(mutex_);
        std::vector<ServedRequest> some;
        for (const ServedRequest& request : requests_) {
            if (request.path == path) some.push_back(request);
        }
        return some;
    }
    std::size_t calls(std::string_view path = "/token") const { return requests(path).size(); }

  private:
    ServedResponse take(const ServedRequest& request) {
        std::unique_lock lock(mutex_);
        requests_.push_back(request);
        const std::size_t count = requests_.size();
        const Handler handler = handler_;
        lock.unlock();
        if (handler) return handler(request);
        return answering(200, granted(count));
    }

    mutable std::mutex mutex_;
    Handler handler_;
    std::vector<ServedRequest> requests_;
    LoopbackServer server_{[this](const ServedRequest& request) { return take(request); }};
};

// A worker or a runner with the provider in its configuration.
struct ProviderContext : DatabaseContext {
    explicit ProviderContext(const Settings& settings) : own(settings) {}
    Settings own;
    service::Context mine{database, own, context.keys};
};

struct ConnectionFixture : AdminFixture {
    ConnectionFixture() {
        for (const char* id : {"gitlab", "google_docs", "mailchimp", "linkedin", "slack"}) {
            set_up(id, server);
        }
    }
    void set_up(const std::string& id, const ProviderServer& at) {
        ProviderSettings& provider = own.providers[id];
        provider.client_id = "client";
        provider.client_secret = Secret("client" + std::string(kMark));
        provider.token_url = at.url("/token");
        provider.lookup_url = at.url("/lookup");
        provider.revoke_url = at.url("/revoke");
    }
    service::Actor admin() const { return {acme, ann, std::nullopt, "request"}; }

    ConnectionId pending(std::string_view provider = "gitlab") {
        const auto id = ConnectionId::create();
        const Timestamp long_ago = Timestamp::now() - kHour;
        client.execute(
            "INSERT INTO connections (organization_id, id, provider, name, host, status, details, "
            "created_at, updated_at) VALUES (?, ?, ?, 'n', '', 'pending', '{}', ?, ?)",
            acme, id, provider, long_ago, long_ago);
        return id;
    }
    // With tokens a0 and r0 that expire in ten minutes, so that a refresh is due.
    ConnectionId connected(std::string_view provider = "gitlab", bool with_refresh = true) {
        const auto id = pending(provider);
        const std::string mark(kMark);
        service::KeptTokens tokens{Secret("a0" + mark), std::nullopt};
        if (with_refresh) tokens.refresh = Secret("r0" + mark);
        const Timestamp now = Timestamp::now();
        client.execute(
            "UPDATE connections SET status = 'connected', tokens = ?, token_generation = 1, "
            "access_expires_at = ?, refresh_due_at = ?, refreshed_at = ? WHERE id = ?",
            service::seal_tokens(context.keys, acme, id, tokens), now + 10 * kMinute, now - kMinute,
            now - kHour, id);
        return id;
    }
    rules::ProviderConnection row(ConnectionId id) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            db::OrgStore org(transaction.tx, acme);
            return store::find_connection(org, id).value();
        });
    }
    // A code for the connection, as the callback passes it.
    service::CodeGrant grant(ConnectionId id, std::string code = "code",
                             std::map<std::string, std::string> details = {}) {
        auto connection = row(id);
        auto made = service::client_of(own.providers, connection.provider, connection.host).value();
        return {std::move(connection),
                std::move(made),
                std::move(code),
                {"https://c.example/callback", "s", "verifier"},
                std::move(details)};
    }
    // "access refresh", without the mark.
    std::string tokens(ConnectionId id) {
        const auto kept = service::open_tokens(context.keys, acme, id, row(id).tokens);
        if (!kept) return "none";
        const auto plain = [](const Secret& token) {
            return token.reveal().substr(0, token.reveal().find(kMark));
        };
        return plain(kept->access) + (kept->refresh ? " " + plain(*kept->refresh) : "");
    }
    std::string cell(ConnectionId id, const std::string& column) {
        return client.value("SELECT COALESCE(" + column + ", '-') FROM connections WHERE id = ?",
                            id);
    }
    void set(ConnectionId id, const std::string& column, const db::Param& value) {
        client.execute("UPDATE connections SET " + column + " = ? WHERE id = ?", value, id);
    }
    bool is_there(ConnectionId id) {
        return client.number("SELECT COUNT(*) FROM connections WHERE id = ?", id) > 0;
    }
    // Actions of the audit log as "actor action", newest first.
    std::vector<std::string> audited() {
        return client.column(
            "SELECT CONCAT(actor, ' ', action) FROM audit_log WHERE action LIKE 'connection.%' "
            "ORDER BY id DESC");
    }

    ProviderServer server;
    Settings own = settings();
    service::Context mine{database, own, context.keys};
};

}  // namespace muster::test
