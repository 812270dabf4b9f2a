#include "service/connections/provider_limits.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr Milliseconds kRest{60'000};
constexpr Milliseconds kSlow{3'000};

}  // namespace

std::vector<std::string> ProviderTraffic::avoided() {
    const std::lock_guard lock(mutex_);
    const Timestamp now = Timestamp::now();
    std::vector<std::string> names;
    for (const auto& [name, provider] : providers_) {
        if (provider.visits >= kMostAtOnce || provider.rests_until > now) names.push_back(name);
    }
    return names;
}

bool ProviderTraffic::enter(std::string_view name) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_[std::string(name)];
    if (provider.visits >= kMostAtOnce || provider.rests_until > Timestamp::now()) return false;
    ++provider.visits;
    return true;
}

void ProviderTraffic::leave(std::string_view name, bool was_reached, Milliseconds took) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_.find(name)->second;
    --provider.visits;
    if (was_reached && took < kSlow) return;
    const Timestamp until = Timestamp::now() + (was_reached ? took : kRest);
    provider.rests_until = std::max(provider.rests_until, until);
}

ProviderVisit::ProviderVisit(ProviderTraffic& traffic, std::string_view provider)
    : traffic_(traffic), provider_(provider), is_welcome_(traffic.enter(provider)) {}

ProviderVisit::~ProviderVisit() {
    if (!is_welcome_) return;
    const auto took = std::chrono::steady_clock::now() - began_;
    traffic_.leave(provider_, was_reached_, std::chrono::duration_cast<Milliseconds>(took));
}

}  // namespace muster::service
