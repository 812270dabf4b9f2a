#include "service/access/credentials.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/log.hpp"
#include "db/transaction.hpp"
#include "service/failure.hpp"

namespace muster::service {
namespace {

void check_expiry(const std::optional<Timestamp>& expires_at, Timestamp now, Faults& faults) {
    if (!expires_at || *expires_at > now) return;
    faults.add("expires_at", FieldCode::OutOfRange, "is not in the future");
}

}  // namespace

void reject_past_expiry(const std::optional<Timestamp>& expires_at, Timestamp now) {
    Faults faults;
    check_expiry(expires_at, now, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

void check_key_bounds(const KeyBounds& bounds, const InstallationRates& rates, Timestamp now) {
    Faults faults;
    const auto check = [&](const char* path, std::int64_t given, std::int64_t most) {
        if (given <= most) return;
        faults.add(path, FieldCode::OutOfRange,
                   "is higher than the installation's; use 1 to " + std::to_string(most) +
                       ", or ask the operator for a key with a higher rate",
                   between(1, most));
    };
    check("rate_limit_per_second", bounds.per_second.value_or(0), rates.per_second);
    check("burst", bounds.burst.value_or(0), rates.burst);
    check_expiry(bounds.expires_at, now, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
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
