#include "store/connections/authorizations.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kAuthorization = columns<Authorization>(
    column<&Authorization::organization_id>("organization_id"),
    column<&Authorization::connection_id>("connection_id"),
    column<&Authorization::state_hash>("state_hash"),
    column<&Authorization::session_id>("session_id"), column<&Authorization::verifier>("verifier"),
    column<&Authorization::redirect_uri>("redirect_uri"),
    column<&Authorization::expires_at>("expires_at"));

}  // namespace

void replace_authorization(db::OrgStore& org, const Authorization& authorization) {
    static constexpr OrgSql kReplace{
        "connection_authorizations.replace",
        "REPLACE INTO connection_authorizations (organization_id, connection_id, state_hash, "
        "session_id, verifier, redirect_uri, expires_at) VALUES (:org, ?, ?, ?, ?, ?, ?)"};
    org.execute(kReplace, authorization.connection_id, authorization.state_hash,
                authorization.session_id, authorization.verifier, authorization.redirect_uri,
                authorization.expires_at);
}

std::optional<Authorization> find_authorization(db::Tx& tx, std::string_view state_hash) {
    static constexpr SystemSql kFind{
        "connection_authorizations.find", Why{"the state identifies the organization"},
        kAuthorization, "SELECT {columns} FROM connection_authorizations WHERE state_hash = ?"};
    return tx.one(kFind, state_hash);
}

bool consume_authorization(db::Tx& tx, std::string_view state_hash) {
    static constexpr SystemSql kDelete{
        "connection_authorizations.delete", Why{"the state identifies the organization"},
        "DELETE FROM connection_authorizations WHERE state_hash = ?"};
    return tx.execute(kDelete, state_hash) == 1;
}

}  // namespace muster::store
