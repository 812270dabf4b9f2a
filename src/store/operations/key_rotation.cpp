#include "store/operations/key_rotation.hpp"

#include "rules/seal_names.hpp"

#include <algorithm>
#include <array>

namespace muster::store {

using db::SystemSql;
using db::Why;

namespace {

std::vector<SealedRow> rows_of(db::Rows rows) {
    std::vector<SealedRow> list;
    while (rows.next()) list.push_back({rows.bytes(1), rows.bytes(2)});
    return list;
}

// The same where the key is an organization and something within it, 16 bytes and the rest.
std::vector<SealedRow> page_within(db::Tx& tx, const SystemSql<>& page, std::string_view after,
                                   int limit) {
    const std::string_view organization = after.substr(0, Uuid::kBytes);
    return rows_of(
        tx.query(page, organization, organization, after.substr(organization.size()), limit));
}

// The latter, where it is an id.
template <class IdType>
IdType id_within(std::string_view key) {
    const auto id = Uuid::from_bytes(key.substr(std::min(key.size(), Uuid::kBytes)));
    return IdType(id.value_or(Uuid()));
}

// ---------------------------------------------------------------------------- TOTP secrets

std::string admin_context(std::string_view id) {
    return rules::totp_seal_name(AdminId(Uuid::from_bytes(id).value_or(Uuid())));
}

std::vector<SealedRow> page_admins(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_admins", Why{"the sealing key is the installation's"},
        "SELECT id, totp_secret FROM admins WHERE id > ? AND totp_secret IS NOT NULL "
        "ORDER BY id LIMIT ? FOR UPDATE"};
    return rows_of(tx.query(kPage, after, limit));
}

void write_admin(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{"secrets.write_admin",
                                      Why{"the sealing key is the installation's"},
                                      "UPDATE admins SET totp_secret = ? WHERE id = ?"};
    tx.execute(kWrite, sealed, id);
}

// ---------------------------------------------------------------------------- mail that waits

std::string mail_context(std::string_view id) {
    return rules::mail_seal_name(MailId(Uuid::from_bytes(id).value_or(Uuid())));
}

std::vector<SealedRow> page_mail(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_mail", Why{"the sealing key is the installation's"},
        "SELECT id, content FROM mail_outbox WHERE id > ? ORDER BY id LIMIT ? FOR UPDATE"};
    return rows_of(tx.query(kPage, after, limit));
}

void write_mail(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{"secrets.write_mail",
                                      Why{"the sealing key is the installation's"},
                                      "UPDATE mail_outbox SET content = ? WHERE id = ?"};
    tx.execute(kWrite, sealed, id);
}

// ---------------------------------------------------------------------------- webhook secrets

std::string endpoint_context(std::string_view id) {
    return rules::endpoint_seal_name(id_within<EndpointId>(id));
}

std::vector<SealedRow> page_endpoints(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_endpoints", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, id), secret FROM webhook_endpoints "
        "WHERE organization_id > ? OR (organization_id = ? AND id > ?) "
        "ORDER BY organization_id, id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_endpoint(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_endpoint", Why{"the sealing key is the installation's"},
        "UPDATE webhook_endpoints SET secret = ? WHERE organization_id = ? AND id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

std::vector<SealedRow> page_previous(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_previous_endpoints", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, id), previous_secret FROM webhook_endpoints "
        "WHERE (organization_id > ? OR (organization_id = ? AND id > ?)) "
        "AND previous_secret IS NOT NULL ORDER BY organization_id, id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_previous(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_previous_endpoint", Why{"the sealing key is the installation's"},
        "UPDATE webhook_endpoints SET previous_secret = ? WHERE organization_id = ? AND id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

// ---------------------------------------------------------------------------- recorded replies

std::string reply_context(std::string_view) {
    return std::string(rules::kReplySealName);
}

std::vector<SealedRow> page_replies(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_replies", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, key_hash), body FROM idempotency_keys "
        "WHERE (organization_id > ? OR (organization_id = ? AND key_hash > ?)) AND sealed "
        "ORDER BY organization_id, key_hash LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_reply(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_reply", Why{"the sealing key is the installation's"},
        "UPDATE idempotency_keys SET body = ? WHERE organization_id = ? AND key_hash = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

// ---------------------------------------------------------------------------- configs

std::string config_context(std::string_view id) {
    return rules::config_seal_name(id_within<InstallationId>(id));
}

std::vector<SealedRow> page_configs(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_configs", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, id), config_secrets FROM module_installations "
        "WHERE (organization_id > ? OR (organization_id = ? AND id > ?)) "
        "AND config_secrets IS NOT NULL ORDER BY organization_id, id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_config(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_config", Why{"the sealing key is the installation's"},
        "UPDATE module_installations SET config_secrets = ? WHERE organization_id = ? AND id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

// ---------------------------------------------------------------------------- module credentials

std::string credential_context(std::string_view id) {
    return rules::credential_seal_name(id_within<CredentialId>(id));
}

std::vector<SealedRow> page_credentials(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_module_credentials", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, id), signing_secret FROM module_credentials "
        "WHERE organization_id > ? OR (organization_id = ? AND id > ?) "
        "ORDER BY organization_id, id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_credential(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_module_credential", Why{"the sealing key is the installation's"},
        "UPDATE module_credentials SET signing_secret = ? WHERE organization_id = ? AND id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

// ---------------------------------------------------------------------------- connections

// The key is the organization and the connection.
OrgId organization_of(std::string_view key) {
    return OrgId(Uuid::from_bytes(key.substr(0, Uuid::kBytes)).value_or(Uuid()));
}

std::string connection_context(std::string_view id) {
    return rules::connection_seal_name(organization_of(id), id_within<ConnectionId>(id));
}

std::vector<SealedRow> page_connections(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_connections", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, id), tokens FROM connections "
        "WHERE (organization_id > ? OR (organization_id = ? AND id > ?)) AND tokens IS NOT NULL "
        "ORDER BY organization_id, id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_connection(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{
        "secrets.write_connection", Why{"the sealing key is the installation's"},
        "UPDATE connections SET tokens = ? WHERE organization_id = ? AND id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

std::string authorization_context(std::string_view id) {
    return rules::authorization_seal_name(organization_of(id), id_within<ConnectionId>(id));
}

std::vector<SealedRow> page_authorizations(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{
        "secrets.page_authorizations", Why{"the sealing key is the installation's"},
        "SELECT CONCAT(organization_id, connection_id), verifier FROM connection_authorizations "
        "WHERE organization_id > ? OR (organization_id = ? AND connection_id > ?) "
        "ORDER BY organization_id, connection_id LIMIT ? FOR UPDATE"};
    return page_within(tx, kPage, after, limit);
}

void write_authorization(db::Tx& tx, std::string_view id, std::string_view sealed) {
    static constexpr SystemSql kWrite{"secrets.write_authorization",
                                      Why{"the sealing key is the installation's"},
                                      "UPDATE connection_authorizations SET verifier = ? "
                                      "WHERE organization_id = ? AND connection_id = ?"};
    tx.execute(kWrite, sealed, id.substr(0, Uuid::kBytes), id.substr(Uuid::kBytes));
}

constexpr std::array kTables = {
    SealedTable{"second factors", admin_context, page_admins, write_admin},
    SealedTable{"waiting mails", mail_context, page_mail, write_mail},
    SealedTable{"recorded replies", reply_context, page_replies, write_reply},
    SealedTable{"module configs", config_context, page_configs, write_config},
    SealedTable{"webhook secrets", endpoint_context, page_endpoints, write_endpoint},
    SealedTable{"previous webhook secrets", endpoint_context, page_previous, write_previous},
    SealedTable{"module credentials", credential_context, page_credentials, write_credential},
    SealedTable{"connection tokens", connection_context, page_connections, write_connection},
    SealedTable{"connection verifiers", authorization_context, page_authorizations,
                write_authorization},
};

}  // namespace

std::span<const SealedTable> sealed_tables() {
    return kTables;
}

}  // namespace muster::store
