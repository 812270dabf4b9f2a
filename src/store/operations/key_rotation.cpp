#include "store/operations/key_rotation.hpp"

#include "db/sql_text.hpp"
#include "rules/seal_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::store {

using db::column;
using db::columns;
using db::kSqlText;
using db::SqlText;
using db::SystemSql;
using db::Why;

namespace {

Uuid id_at(std::string_view key, std::size_t place) {
    return Uuid::from_bytes(key.substr(std::min(place, key.size()), Uuid::kBytes)).value_or(Uuid());
}

// The sealing context of a row's value, from the row's key.
template <class IdType, std::string (*kName)(const IdType&)>
std::string context_of_id(std::string_view key) {
    return kName(IdType(id_at(key, key.size() - Uuid::kBytes)));
}
template <std::string (*kName)(const OrgId&, const ConnectionId&)>
std::string context_of_connection(std::string_view key) {
    return kName(OrgId(id_at(key, 0)), ConnectionId(id_at(key, Uuid::kBytes)));
}
std::string context_of_reply(std::string_view) {
    return std::string(rules::kReplySealName);
}

// A column with sealed values. Keys::InOrganization: the table's key is the organization and `key`.
enum class Keys : std::uint8_t { Global, InOrganization };
struct SealedColumn {
    std::string_view what;
    std::string_view table;
    Keys keys;
    std::string_view key;
    std::string_view column;
    std::string_view condition;  // selects the rows with a sealed value
    std::string (*context)(std::string_view key);
};

constexpr std::array kColumns = {
    SealedColumn{"second factors", "admins", Keys::Global, "id", "totp_secret",
                 "totp_secret IS NOT NULL", context_of_id<AdminId, rules::totp_seal_name>},
    SealedColumn{"waiting mails", "mail_outbox", Keys::Global, "id", "content", "TRUE",
                 context_of_id<MailId, rules::mail_seal_name>},
    SealedColumn{"recorded replies", "idempotency_keys", Keys::InOrganization, "key_hash", "body",
                 "sealed", context_of_reply},
    SealedColumn{"module configs", "module_installations", Keys::InOrganization, "id",
                 "config_secrets", "config_secrets IS NOT NULL",
                 context_of_id<InstallationId, rules::config_seal_name>},
    SealedColumn{"webhook secrets", "webhook_endpoints", Keys::InOrganization, "id", "secret",
                 "TRUE", context_of_id<EndpointId, rules::endpoint_seal_name>},
    SealedColumn{"previous webhook secrets", "webhook_endpoints", Keys::InOrganization, "id",
                 "previous_secret", "previous_secret IS NOT NULL",
                 context_of_id<EndpointId, rules::endpoint_seal_name>},
    SealedColumn{"older webhook secrets", "webhook_endpoints", Keys::InOrganization, "id",
                 "older_secret", "older_secret IS NOT NULL",
                 context_of_id<EndpointId, rules::endpoint_seal_name>},
    SealedColumn{"module credentials", "module_credentials", Keys::InOrganization, "id",
                 "signing_secret", "TRUE",
                 context_of_id<CredentialId, rules::credential_seal_name>},
    SealedColumn{"connection tokens", "connections", Keys::InOrganization, "id", "tokens",
                 "tokens IS NOT NULL", context_of_connection<rules::connection_seal_name>},
    SealedColumn{"connection verifiers", "connection_authorizations", Keys::InOrganization,
                 "connection_id", "verifier", "TRUE",
                 context_of_connection<rules::authorization_seal_name>},
    SealedColumn{"second factors to confirm", "sessions", Keys::Global, "id", "next_totp_secret",
                 "next_totp_secret IS NOT NULL",
                 context_of_id<SessionId, rules::next_totp_seal_name>},
};

template <std::size_t kIndex>
constexpr SqlText key_text() {
    constexpr const SealedColumn& kSealed = kColumns[kIndex];
    if (kSealed.keys == Keys::Global) return {kSealed.key};
    return {"CONCAT(organization_id, ", kSealed.key, ")"};
}

template <std::size_t kIndex>
constexpr SqlText page_text() {
    constexpr const SealedColumn& kSealed = kColumns[kIndex];
    SqlText text{"SELECT {columns} FROM ", kSealed.table, " FORCE INDEX (PRIMARY) WHERE ",
                 kSealed.condition, " AND "};
    if (kSealed.keys == Keys::Global) {
        return text.add({kSealed.key, " > ? ORDER BY ", kSealed.key, " LIMIT ? FOR UPDATE"});
    }
    return text.add({"(organization_id > ? OR (organization_id = ? AND ", kSealed.key,
                     " > ?)) ORDER BY organization_id, ", kSealed.key, " LIMIT ? FOR UPDATE"});
}

template <std::size_t kIndex>
constexpr SqlText sample_text() {
    constexpr const SealedColumn& kSealed = kColumns[kIndex];
    return {"SELECT {columns} FROM ",
            kSealed.table,
            " FORCE INDEX (PRIMARY) WHERE ",
            kSealed.condition,
            " ORDER BY ",
            kSealed.keys == Keys::Global ? "" : "organization_id, ",
            kSealed.key,
            " LIMIT ?"};
}

template <std::size_t kIndex>
constexpr SqlText write_text() {
    constexpr const SealedColumn& kSealed = kColumns[kIndex];
    return {"UPDATE ",     kSealed.table,
            " SET ",       kSealed.column,
            " = ? WHERE ", kSealed.keys == Keys::Global ? "" : "organization_id = ? AND ",
            kSealed.key,   " = ?"};
}

template <std::size_t kIndex>
constexpr auto kSealedRow = columns<SealedRow>(column<&SealedRow::id>(kSqlText<key_text<kIndex>>),
                                               column<&SealedRow::sealed>(kColumns[kIndex].column));

template <std::size_t kIndex>
std::vector<SealedRow> page(db::Tx& tx, std::string_view after, int limit) {
    static constexpr SystemSql kPage{"secrets.page",
                                     Why{"the sealing key belongs to the installation"},
                                     kSealedRow<kIndex>, kSqlText<page_text<kIndex>>};
    if (kColumns[kIndex].keys == Keys::Global) return tx.all(kPage, after, limit);
    const std::string_view organization = after.substr(0, Uuid::kBytes);
    return tx.all(kPage, organization, organization, after.substr(organization.size()), limit);
}

template <std::size_t kIndex>
std::vector<SealedRow> sample(db::Tx& tx, int limit) {
    static constexpr SystemSql kSample{"secrets.sample",
                                       Why{"the sealing key belongs to the installation"},
                                       kSealedRow<kIndex>, kSqlText<sample_text<kIndex>>};
    return tx.all(kSample, limit);
}

template <std::size_t kIndex>
void write(db::Tx& tx, std::string_view key, std::string_view sealed) {
    static constexpr SystemSql kWrite{"secrets.write",
                                      Why{"the sealing key belongs to the installation"},
                                      kSqlText<write_text<kIndex>>};
    if (kColumns[kIndex].keys == Keys::Global) {
        tx.execute(kWrite, sealed, key);
    } else {
        tx.execute(kWrite, sealed, key.substr(0, Uuid::kBytes), key.substr(Uuid::kBytes));
    }
}

template <std::size_t... I>
constexpr auto tables_of(std::index_sequence<I...>) {
    return std::array{
        SealedTable{kColumns[I].what, kColumns[I].context, page<I>, sample<I>, write<I>}...};
}
constexpr auto kTables = tables_of(std::make_index_sequence<kColumns.size()>());

}  // namespace

std::span<const SealedTable> sealed_tables() {
    return kTables;
}

}  // namespace muster::store
