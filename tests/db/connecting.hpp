// Connections to providers of external data for the database tests: an installation with some
// providers that do not respond, and an admin with a verified second factor.
#pragma once

#include "db/admins.hpp"
#include "http/query.hpp"
#include "rules/connections/providers.hpp"
#include "service/connections/authorization.hpp"
#include "service/connections/catalogue.hpp"

#include <string>
#include <string_view>

namespace muster::test {

struct ConnectingFixture : AdminFixture {
    ConnectingFixture() {
        own.console.origin = "https://console.example";
        for (const std::string_view id : {"gitlab", "shopify", "slack", "quickbooks"}) {
            auto& provider = own.providers[std::string(id)];
            provider.client_id = "client";
            provider.client_secret = Secret("secret");
            provider.token_url = "http://127.0.0.1:9/token";  // no listener
        }
        client.execute("UPDATE sessions SET verified_at = created_at");
    }

    static service::ConnectRequest request(std::string_view provider = "gitlab") {
        service::ConnectRequest made;
        made.provider = rules::find_provider(provider);
        return made;
    }
    template <class Work>
    auto as_ann(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
            return work(transaction);
        });
    }
    service::ConnectLink begin(const service::ConnectRequest& asked = request()) {
        return as_ann([&](service::OrgTransaction& transaction) {
            return service::begin_authorization(transaction, console, asked, session());
        });
    }
    SessionId session() const { return opened.session.id; }

    // The callback of the browser that began the authorization, with a code.
    service::CallbackRequest callback(const service::ConnectLink& link) const {
        service::CallbackRequest made;
        const auto query = link.redirect_url.substr(link.redirect_url.find('?') + 1);
        made.state = http::query_value(query, "state").value_or("");
        made.code = "code";
        made.proof = service::connect_proof(console.keys, session());
        return made;
    }
    service::CallbackResult complete(const service::CallbackRequest& request) {
        return service::complete_authorization(console, request, [](const auto&) { return true; });
    }

    std::vector<rules::ProviderConnection> list() {
        return service::list_connections(console, ann, acme);
    }
    // "status: error"
    std::string status_of(ConnectionId id) {
        return client.value(
            "SELECT CONCAT(status, ': ', COALESCE(error, '')) FROM connections WHERE id = ?", id);
    }
    std::int64_t pending_authorizations() {
        return client.number("SELECT COUNT(*) FROM connection_authorizations");
    }

    service::NewSession opened = sign_in();
    Settings own = settings();
    service::Context console{database, own, KeyRing(own.security.key)};
};

}  // namespace muster::test
