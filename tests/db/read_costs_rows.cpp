// The rows of the read costs: row `seq` of each table.
#include "db/read_costs.hpp"

#include <algorithm>
#include <limits>

namespace muster::test {
namespace {

// The most rows in a table of an organization.
constexpr int kFew = 200;
constexpr int kSome = 2000;
constexpr int kAll = std::numeric_limits<int>::max();

// Rows with keys that are unique on the server belong to the first organization.
enum class Owner : std::uint8_t { Organization, Server };

// {org}: the organization. {id}: the id of the row. {id EXPRESSION}: the id of another row.
// {hash}: the 32 bytes of the row.
struct TableRows {
    std::string_view table;
    Owner owner;
    int most;
    std::string_view columns;
    std::string_view values;
};

constexpr TableRows kTableRows[] = {
    {"users", Owner::Server, kAll, "id, email, created_at",
     "{id}, CONCAT('p', seq, '@x.test'), seq"},
    {"members", Owner::Organization, kAll,
     "organization_id, user_id, id, email, external_id, first_name, last_name, attributes, "
     "created_at, updated_at",
     "{org}, {id}, {id}, CONCAT('p', seq, '@x.test'), CONCAT('C-', seq), CONCAT('Pat', seq), "
     "CONCAT('Parker', seq), '{}', seq, seq"},
    {"engagement_events", Owner::Organization, kAll,
     "organization_id, id, member_id, installation_id, action, tags, client_event_id, "
     "ingest_event_id, occurred_at, received_at",
     "{org}, {id}, {id seq MOD 200 + 1}, {id 1}, 'bought', '[]', "
     "CONCAT('e', seq), CONCAT('s', seq), seq, seq"},
    {"admins", Owner::Server, kFew, "id, email, totp_secret, created_at",
     "{id}, CONCAT('a', seq, '@x'), 'sealed', seq"},
    {"mail_outbox", Owner::Server, kSome, "id, content, next_attempt_at, created_at, expires_at",
     "{id}, 'sealed', seq, seq, seq"},
    {"organization_deletions", Owner::Organization, 1, "organization_id, requested_at",
     "{org}, seq"},
    {"api_keys", Owner::Server, kSome,
     "organization_id, id, name, secret_hash, last_four, created_at, revoked_at",
     "{org}, {id}, 'n', {hash}, 'last', seq, IF(seq MOD 2 = 0, NULL, seq)"},
    {"audit_log", Owner::Server, kAll, "organization_id, id, actor, action, details, created_at",
     "{org}, {id}, 'system', 'a.b', '{}', seq"},
    {"sessions", Owner::Server, kSome,
     "id, token_hash, admin_id, active_organization_id, next_totp_secret, created_at, "
     "last_used_at, expires_at",
     "{id}, {hash}, {id seq MOD 200 + 1}, {org}, 'sealed', seq, seq, seq"},
    {"backup_codes", Owner::Server, kSome, "admin_id, code_hash, created_at",
     "{id seq MOD 200 + 1}, {hash}, seq"},
    {"otp_codes", Owner::Server, kSome, "subject, code_hash, expires_at", "{hash}, {hash}, seq"},
    {"guess_budgets", Owner::Server, kSome, "kind, subject, spent, expires_at",
     "'otp_request', {hash}, '', seq"},
    {"seats", Owner::Organization, kFew, "organization_id, admin_id, role, created_at",
     "{org}, {id}, 'owner', seq"},
    {"seat_invitations", Owner::Organization, kFew,
     "organization_id, id, email, role, invited_by, created_at, sent_at, expires_at",
     "{org}, {id}, CONCAT('a', seq, '@x'), 'admin', {id}, seq, seq, seq"},
    {"attributes", Owner::Organization, kFew,
     "organization_id, id, attribute_key, label, type, choices, enabled, created_at, updated_at",
     "{org}, {id}, CONCAT('k', seq), 'L', 'single_choice', '[\"S\"]', 1, seq, seq"},
    {"idempotency_keys", Owner::Organization, kAll,
     "organization_id, key_hash, body_hash, status, body, sealed, created_at, expires_at",
     "{org}, {hash}, {hash}, 200, 'body', seq MOD 2, seq, seq"},
    {"import_jobs", Owner::Organization, kSome,
     "organization_id, id, source, state, mapping, file_name, declared_total, expires_at, "
     "created_at, updated_at",
     "{org}, {id}, 'api', IF(seq = 1, 'validating', 'completed'), '{}', 'f', 1, 1000000 + seq, "
     "seq, seq"},
    {"member_jobs", Owner::Organization, kSome,
     "organization_id, id, action, filter, state, position, phase_started_at, expires_at, "
     "created_at, updated_at",
     "{org}, {id}, 'lock', '{}', IF(seq = 1, 'validating', 'completed'), '', seq, 1000000 + seq, "
     "seq, seq"},
    {"import_progress", Owner::Organization, kSome, "organization_id, job_id, phase_started_at",
     "{org}, {id}, seq"},
    {"import_undos", Owner::Organization, kSome, "organization_id, job_id", "{org}, {id}"},
    {"import_discards", Owner::Organization, kSome, "organization_id, job_id", "{org}, {id}"},
    {"organization_days", Owner::Organization, kAll, "organization_id, day, kind, slot, amount",
     "{org}, seq DIV 8, 'reply_bytes', seq MOD 8, 1"},
    {"import_blocks", Owner::Organization, kAll,
     "organization_id, job_id, block_no, part, state, row_count, valid_count, invalid_count, "
     "created_count, attached_count, merged_count, failed_count, removed_count, detached_count, "
     "emptied_count, kept_count, staged_at, updated_at, data",
     "{org}, {id seq DIV 1000 + 1}, seq, 0, ELT(seq MOD 4 + 1, 'staged', 'checked', 'staged', "
     "'committed'), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, seq, seq, 'data'"},
    {"modules", Owner::Organization, kFew,
     "organization_id, id, slug, name, vendor, kind, status, created_at, updated_at",
     "{org}, {id}, CONCAT('s', seq), 'N', 'V', 'proprietary', 'published', seq, seq"},
    {"module_versions", Owner::Organization, kSome,
     "organization_id, id, module_id, version, manifest, status, created_at, updated_at",
     "{org}, {id}, {id seq MOD 10 + 1}, seq, '{}', 'published', seq, seq"},
    {"module_installations", Owner::Organization, kFew,
     "organization_id, id, module_id, version_id, status, config, config_secrets, installed_at, "
     "created_at, updated_at",
     "{org}, {id}, {id}, {id}, 'enabled', '{}', 'sealed', seq, seq, seq"},
    {"module_credentials", Owner::Server, kSome,
     "organization_id, id, installation_id, name, secret_hash, last_four, signing_secret, "
     "created_at, revoked_at",
     "{org}, {id}, {id seq MOD 10 + 1}, 'n', {hash}, 'last', 'sealed', seq, IF(seq MOD 2 = 0, "
     "NULL, seq)"},
    {"publishable_keys", Owner::Server, kSome,
     "organization_id, id, kind, name, token, allowed_origins, created_at, revoked_at",
     "{org}, {id}, 'tracking', 'n', CONCAT('ek_live_', seq), 'https://shop.example', seq, IF(seq "
     "MOD 2 = 0, NULL, seq)"},
    {"webhook_endpoints", Owner::Organization, kFew,
     "organization_id, id, installation_id, url, event_types, status, secret, previous_secret, "
     "previous_secret_until, older_secret, older_secret_until, failing_since, created_at, "
     "updated_at, indexed_at",
     "{org}, {id}, {id seq MOD 2 + 1}, 'https://example.test/', 'member.created', 'active', "
     "'sealed', 'sealed', seq, 'sealed', seq, IF(seq MOD 2 = 0, NULL, seq), seq, seq, seq"},
    {"webhook_events", Owner::Organization, kAll,
     "organization_id, id, type, body, user_id, created_at",
     "{org}, {id}, 'member.created', '{}', {id seq MOD 200 + 1}, seq"},
    {"webhook_subscriptions", Owner::Organization, kFew, "organization_id, event_type, endpoint_id",
     "{org}, 'member.created', {id}"},
    {"webhook_outbox", Owner::Organization, kAll,
     "organization_id, event_id, event_type, created_at", "{org}, {id}, 'member.created', seq"},
    {"webhook_deliveries", Owner::Organization, kAll,
     "organization_id, id, endpoint_id, event_id, status, due_at, created_at, updated_at",
     "{org}, {id}, {id seq MOD 20 + 1}, {id}, ELT(seq DIV 20 MOD 4 + 1, 'pending', 'succeeded', "
     "'failed', 'canceled'), IF(seq DIV 20 MOD 4 = 0, seq, NULL), seq, seq"},
    {"webhook_endpoint_hours", Owner::Organization, kSome,
     "organization_id, endpoint_id, slot, hour_no, succeeded, failed, failed_attempts",
     "{org}, {id seq MOD 200 + 1}, seq DIV 200, seq, 1, 1, 1"},
    {"webhook_attempts", Owner::Organization, kAll,
     "organization_id, id, delivery_id, class, duration_ms, created_at",
     "{org}, {id}, {id (seq + 1) DIV 2}, 'http_5xx', 1, seq"},
    {"ad_slots", Owner::Organization, kSome,
     "organization_id, id, slug, name, width, height, created_at, updated_at",
     "{org}, {id}, CONCAT('s', seq), 'n', 1, 1, seq, seq"},
    {"ad_campaigns", Owner::Organization, kFew,
     "organization_id, id, name, status, starts_at, weight, targeting, created_at, updated_at",
     "{org}, {id}, 'n', 'active', 0, 1, '{}', seq, seq"},
    {"ad_campaign_slots", Owner::Organization, kFew, "organization_id, slot_id, campaign_id",
     "{org}, {id seq MOD 20 + 1}, {id}"},
    {"ad_creatives", Owner::Organization, kSome,
     "organization_id, id, campaign_id, kind, image_url, width, height, landing_url, created_at, "
     "updated_at",
     "{org}, {id}, {id seq MOD 200 + 1}, 'image', 'https://img.example/a.png', 1, 1, "
     "'https://shop.example/', seq, seq"},
    {"ad_campaign_days", Owner::Organization, kSome,
     "organization_id, campaign_id, day, impressions", "{org}, {id seq MOD 20 + 1}, seq, 1"},
    {"ad_member_days", Owner::Organization, kAll,
     "organization_id, campaign_id, member_id, day, shown",
     "{org}, {id seq MOD 20 + 1}, {id}, seq MOD 7, 1"},
    {"ad_redemptions", Owner::Organization, kAll, "organization_id, serving_id, kind, redeemed_at",
     "{org}, {id}, 'click', seq"},
    {"articles", Owner::Organization, kSome,
     "organization_id, id, slug, title, body_html, locale, tags, published_at, created_at, "
     "updated_at",
     "{org}, {id}, CONCAT('s', seq), CONCAT('News ', seq), '', 'en', '[]', IF(seq MOD 2 = 0, "
     "NULL, seq), seq, seq"},
    {"article_tags", Owner::Organization, kSome, "organization_id, article_id, tag, published_at",
     "{org}, {id}, 'cup', IF(seq MOD 2 = 0, NULL, seq)"},
    {"connections", Owner::Organization, kFew,
     "organization_id, id, provider, name, host, status, tokens, details, refresh_due_at, "
     "created_at, updated_at",
     "{org}, {id}, 'slack', 'n', '', 'connected', 'sealed', '{}', seq, seq, seq"},
    {"connection_authorizations", Owner::Server, kFew,
     "organization_id, connection_id, state_hash, session_id, verifier, redirect_uri, expires_at",
     "{org}, {id}, {hash}, {id}, 'sealed', 'https://console.example/callback', seq"},
};

std::string literal(OrgId organization) {
    std::string text = "0x";
    for (const char c : organization.text()) {
        if (c != '-') text += c;
    }
    return text;
}

void replace_all(std::string& text, std::string_view mark, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size()) {
        text.replace(at, mark.size(), by);
    }
}

std::string values_of(std::string_view values, OrgId organization) {
    std::string text(values);
    replace_all(text, "{org}", literal(organization));
    replace_all(text, "{hash}", "UNHEX(LPAD(HEX(seq), 64, '0'))");
    replace_all(text, "{id}", "{id seq}");
    constexpr std::string_view kMark = "{id ";
    for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
        text.replace(text.find('}', at), 1, "), 32, '0'))");
        text.replace(at, kMark.size(), "UNHEX(LPAD(HEX(");
    }
    return text;
}

}  // namespace

void ReadCosts::fill(OrgId organization, int from, int to) {
    if (from == 1) {
        client->execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Acme', 1)",
                        organization);
    }
    for (const TableRows& rows : kTableRows) {
        const int last = std::min(to, rows.most);
        if (from > last || (rows.owner == Owner::Server && organization != acme)) continue;
        database->run("INSERT INTO " + std::string(rows.table) + " (" + std::string(rows.columns) +
                      ") SELECT " + values_of(rows.values, organization) + " FROM " +
                      sequence(last) + " WHERE seq >= " + std::to_string(from));
    }
}

}  // namespace muster::test
