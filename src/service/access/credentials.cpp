#include "service/access/credentials.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/log.hpp"
#include "db/transaction.hpp"
#include "service/failure.hpp"

namespace muster::service {

void reject_past_expiry(const std::optional<Timestamp>& expires_at, Timestamp now) {
    if (!expires_at || *expires_at > now) return;
    Faults faults;
    faults.add("expires_at", FieldCode::OutOfRange, "is not in the future");
    throw Error(ErrorCode::ValidationError).fields(faults);
}

void write_last_use(Context& context, const std::function<void(db::Tx&)>& write) {
    try {
        context.database.transaction(write);
    } catch (const std::exception& error) {
        log_event(LogLevel::Warning, "credential.touch_failed", {{"reason", explained(error)}});
    }
}

void write_last_use(Context& context, OrgId organization,
                    const std::function<void(db::OrgStore&)>& write) {
    write_last_use(context, [&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        write(org);
    });
}

HashedTokens::HashedTokens(std::span<const std::string> tokens) {
    for (const std::string& token : tokens) {
        const auto [entry, is_new] = tokens_.emplace(sha256(token), token);
        if (is_new) hashes_.push_back(entry->first);
    }
}

}  // namespace muster::service
