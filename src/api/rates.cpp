#include "api/rates.hpp"

#include "base/settings.hpp"

#include <algorithm>

namespace muster::api {
namespace {

constexpr std::string_view kOrganizationPolicy = "organization";

// The rate of all callers of an organization together. A key to which the operator gave a higher
// rate has that rate.
process::RateLimit organization_limit(const LimitsSettings& limits, const service::Caller& caller) {
    const auto rate =
        std::max<std::int64_t>(limits.organization_rate, caller.rate_per_second.value_or(0));
    // In proportion, so that the bucket drains in the same time for every key.
    const auto burst = rate * limits.organization_burst / limits.organization_rate;
    return {rate, std::max<std::int64_t>(burst, caller.burst.value_or(0))};
}

// Visitors of an organization's pages must not use up the rate of its backends.
std::string organization_subject(const service::Caller& caller) {
    return std::string(caller.publishable_key ? "pages of " : "callers of ") +
           std::string(caller.actor.organization.bytes());
}

// The rate of the credential.
process::RateLimit own_limit(const LimitsSettings& limits, const service::Caller& caller) {
    const bool is_page = caller.publishable_key.has_value();
    return {caller.rate_per_second.value_or(is_page ? limits.tracking_rate : limits.key_rate),
            caller.burst.value_or(is_page ? limits.tracking_burst : limits.key_burst)};
}

}  // namespace

ChargedRates charge_caller(WorkerState& worker, const service::Caller& caller) {
    const process::RateLimit limit = own_limit(worker.context.settings.limits, caller);
    const auto own = worker.limiter.take(caller.rate_subject, limit);
    return {process::rate_policy_field(limit), process::rate_limit_field(own), own.retry_after,
            own.remaining};
}

void charge_organization(WorkerState& worker, const service::Caller& caller,
                         ChargedRates& charged) {
    if (charged.retry_after > 0 || caller.actor.organization == OrgId{}) return;
    const process::RateLimit all = organization_limit(worker.context.settings.limits, caller);
    const auto together = worker.limiter.take(organization_subject(caller), all);
    if (together.remaining < charged.remaining || !together.allowed) {
        charged.policies += ", " + process::rate_policy_field(all, kOrganizationPolicy);
        charged.left += ", " + process::rate_limit_field(together, kOrganizationPolicy);
    }
    charged.retry_after = together.retry_after;
}

bool charge_token(WorkerState& worker, const OrgId& organization) {
    // A bucket of its own: a token can be sent any number of times, and needs neither a key nor an
    // origin. In the bucket of the pages, a stranger could use up the rate of the tracking keys.
    const LimitsSettings& limits = worker.context.settings.limits;
    return worker.limiter
        .take("tokens of " + std::string(organization.bytes()),
              {limits.organization_rate, limits.organization_burst})
        .allowed;
}

process::RateResult reserve_upload(WorkerState& worker, const OrgId& organization,
                                   std::size_t length, std::chrono::microseconds longest_wait) {
    constexpr std::size_t kUnit = std::size_t{64} << 10U;
    constexpr std::int64_t kUnitsOfMebibyte = 16;
    if (length < kUnit) return {.allowed = true};
    const auto units = static_cast<std::int64_t>((length + kUnit - 1) / kUnit);
    const std::int64_t rate = worker.context.settings.limits.upload_mib * kUnitsOfMebibyte;
    return worker.limiter.reserve("uploads of " + std::string(organization.bytes()), {rate, rate},
                                  units, longest_wait);
}

}  // namespace muster::api
