#include "store/connections/authorizations.hpp"

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

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
        "connection_authorizations.find", Why{"the state tells whose authorization it is"},
        "SELECT organization_id, connection_id, state_hash, session_id, verifier, redirect_uri, "
        "expires_at FROM connection_authorizations WHERE state_hash = ?"};
    auto rows = tx.query(kFind, state_hash);
    if (!rows.next()) return std::nullopt;
    return Authorization{rows.id<OrgId>(1), rows.id<ConnectionId>(2),
                         rows.bytes(3),     rows.id<SessionId>(4),
                         rows.bytes(5),     rows.bytes(6),
                         rows.timestamp(7)};
}

bool spend_authorization(db::Tx& tx, std::string_view state_hash) {
    static constexpr SystemSql kDelete{
        "connection_authorizations.delete", Why{"the state tells whose authorization it is"},
        "DELETE FROM connection_authorizations WHERE state_hash = ?"};
    return tx.execute(kDelete, state_hash) == 1;
}

}  // namespace muster::store
