#include "service/operations/health.hpp"

#include "base/loopback.hpp"
#include "base/settings.hpp"
#include "net/unix_socket.hpp"
#include "rules/connections/oauth.hpp"
#include "rules/connections/providers.hpp"
#include "rules/operations/database_server.hpp"
#include "service/failure.hpp"
#include "service/mail.hpp"
#include "service/operations/database.hpp"
#include "service/operations/monitoring.hpp"
#include "service/operations/schema.hpp"
#include "service/operations/triggers.hpp"
#include "store/operations/key_rotation.hpp"
#include "store/operations/server.hpp"

#include <algorithm>
#include <cstdlib>

namespace muster::service {
namespace {

// Leases and sign-in codes tolerate this difference between hosts.
constexpr Milliseconds kClockTolerance{5'000};
constexpr int kSampledRows = 5;  // of each table
constexpr Milliseconds kSecond{1'000};

// How the server is reached, as a phrase.
std::string way_of(const Settings& settings, const store::ServerReport& server) {
    const auto urls = connection_settings(settings.database).urls;
    const bool is_unix = std::all_of(
        urls.begin(), urls.end(), [](const std::string& url) { return url.starts_with("unix:"); });
    if (is_unix) return "over its Unix socket";
    return server.cipher.empty() ? "without TLS" : "with TLS (" + server.cipher + ")";
}

rules::DatabaseServer server_of(const store::ServerReport& server) {
    return {server.kind == store::ServerKind::MariaDb, server.version, {}};
}

HealthCheck check_database(Context& context) {
    const DatabaseSettings& settings = context.settings.database;
    const std::string warning =
        rules::encryption_warning(connection_settings(settings).urls, settings.tls_ca);
    try {
        const auto server =
            context.database.autocommit([](db::Tx& tx) { return store::describe_server(tx); });
        return {"database", "",
                rules::name_of(server_of(server)) + " " + way_of(context.settings, server),
                warning};
    } catch (const db::DbError& error) {
        return {"database", explained(error), "", warning};
    }
}

// Whether commits are durable, and packets large enough.
HealthCheck check_settings(Context& context) {
    const auto server = context.database.autocommit([](db::Tx& tx) {
        auto found = server_of(store::describe_server(tx));
        found.settings = store::server_settings(tx);
        return found;
    });
    std::string problem;
    for (const std::string& fault : rules::faults_of(server)) {
        problem += (problem.empty() ? "" : "; ") + fault;
    }
    return {"settings", problem, "commits are durable, packets large enough"};
}

HealthCheck check_clock(Context& context) {
    const Timestamp asked = Timestamp::now();
    const Timestamp theirs =
        context.database.autocommit([](db::Tx& tx) { return store::server_time(tx); });
    const Timestamp answered = Timestamp::now();
    const Milliseconds ahead = theirs < asked      ? theirs - asked
                               : theirs > answered ? theirs - answered
                                                   : Milliseconds(0);
    if (std::abs(ahead.count()) <= kClockTolerance.count()) return {"clock", "", ""};
    return {"clock",
            "the clock of the database's host is " + std::to_string(std::abs(ahead / kSecond)) +
                " seconds " + (ahead.count() > 0 ? "ahead of" : "behind") +
                " this one's: check time synchronization on both (timedatectl)",
            ""};
}

HealthCheck check_schema(Context& context) {
    const SchemaStatus schema = inspect_schema(context);
    std::string finding = "version " + std::to_string(supported_schema_version());
    if (schema.fit == rules::SchemaFit::NewerUsable) {
        finding = "version " + std::to_string(schema.installed->version) +
                  ", newer than these programs, which may use it";
    }
    return {"schema", schema.problem, finding};
}

struct Sample {
    int rows = 0;
    int unreadable = 0;
};

Sample sample_of(Context& context, const store::SealedTable& table) {
    const auto rows =
        context.database.autocommit([&](db::Tx& tx) { return table.sample(tx, kSampledRows); });
    Sample sample;
    for (const store::SealedRow& row : rows) {
        ++sample.rows;
        if (!context.keys.open(row.sealed, table.context(row.id))) ++sample.unreadable;
    }
    return sample;
}

// Whether the installation's key decrypts the stored values.
HealthCheck check_key(Context& context) {
    Sample all;
    for (const store::SealedTable& table : store::sealed_tables()) {
        const Sample sample = sample_of(context, table);
        all.rows += sample.rows;
        all.unreadable += sample.unreadable;
    }
    const std::string tried = std::to_string(all.rows) + " sealed values tried";
    if (all.unreadable == 0) return {"key", "", all.rows == 0 ? "no sealed values yet" : tried};
    if (all.unreadable == all.rows) {
        return {"key",
                "security.key_file is not the key of this database (" + tried +
                    ", none can be decrypted): restore the right key",
                ""};
    }
    return {"key",
            std::to_string(all.unreadable) + " of " + tried +
                " cannot be decrypted: if the key was changed, set security.previous_key_file to "
                "the previous one and run `musterctl secret rotate`",
            ""};
}

// Whether triggers keep the programs from changing the audit log.
HealthCheck check_audit(Context& context) {
    try {
        auto [problem, finding] = check_audit_protection(context);
        return {"audit", std::move(problem), std::move(finding)};
    } catch (const db::DbError& error) {
        if (error.kind() == db::DbError::Kind::LockTimeout) {
            return {"audit", "", "not checked: the table audit_log is locked"};
        }
        return {"audit", "no entry can be written: " + explained(error), ""};
    }
}

HealthCheck check_providers(const Settings& settings) {
    int ready = 0;
    std::string problem;
    for (const rules::Provider& provider : rules::providers()) {
        const std::string reason = rules::missing_settings(provider, settings.providers);
        if (reason.empty()) ++ready;
        const bool is_begun = settings.providers.contains(provider.id);
        if (!reason.empty() && is_begun && problem.empty()) problem = reason;
    }
    return {"providers", problem, std::to_string(ready) + " ready (musterctl provider list)"};
}

// A missing socket is not a problem: musterd may run on another host, or not yet.
HealthCheck check_socket(const std::string& name, const std::string& path) {
    const net::SocketReport report = net::probe_socket(path);
    switch (report.listening) {
        case net::Listening::Yes:
            return {name, "", path};
        case net::Listening::Unknown:
            return {name, "", path + ": this user may not check it"};
        case net::Listening::Absent:
            return {name, "", "not on this host: " + path + " does not exist"};
        case net::Listening::No:
            break;
    }
    return {name,
            "musterd does not answer at " + path + " (" + report.reason +
                "): check whether it runs (systemctl status muster.socket muster.service)",
            ""};
}

// The addresses by which others reach this installation.
HealthCheck check_addresses(const Settings& settings) {
    std::string local;
    const auto add = [&](std::string_view name, const std::string& value, std::string_view host) {
        if (!is_loopback(host)) return;
        local.append(local.empty() ? "" : ", ").append(name).append(" is ").append(value);
    };
    add("server.base_url", settings.server.base_url, authority_of(settings.server.base_url));
    add("mail.from", settings.mail.from,
        std::string_view(settings.mail.from).substr(settings.mail.from.find('@') + 1));
    add("console.origin", settings.console.origin, authority_of(settings.console.origin));
    if (local.empty()) return {"addresses", "", "", ""};
    return {"addresses", "", "",
            local + ": other hosts cannot use these addresses; set them to public names"};
}

// The checks that read the tables.
void add_work(Context& context, std::vector<HealthCheck>& checks) {
    checks.push_back(check_key(context));
    checks.push_back(check_audit(context));
    checks.push_back({"imports", import_problem(context), ""});
    checks.push_back({"mail", mail_problem(context), ""});
    checks.push_back({"webhooks", webhook_problem(context), "", webhook_warning(context)});
    checks.push_back({"connections", connection_problem(context), ""});
}

void add_database(Context& context, std::vector<HealthCheck>& checks) {
    HealthCheck schema;
    try {
        checks.push_back(check_settings(context));
        checks.push_back(check_clock(context));
        schema = check_schema(context);
        checks.push_back(schema);
        if (schema.problem.empty()) add_work(context, checks);
    } catch (const db::DbError& error) {
        checks.push_back({"tables", explained(error), ""});
    }
}

}  // namespace

std::vector<HealthCheck> check_health(Context& context) {
    const Settings& settings = context.settings;
    std::vector<HealthCheck> checks = {check_database(context)};
    if (checks.front().problem.empty()) add_database(context, checks);
    checks.push_back(check_addresses(settings));
    checks.push_back(check_providers(settings));
    checks.push_back(check_socket("server", settings.server.socket));
    checks.push_back(check_socket("collectors", settings.server.collector_socket));
    checks.push_back(check_socket("readers", settings.server.reader_socket));
    return checks;
}

}  // namespace muster::service
