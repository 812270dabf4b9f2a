// Connection jobs of the runner: refresh due tokens, record expired access, and revoke the tokens
// of removed connections (docs/external-data.md "Tokens"). If a runner is killed, the lease expires
// and the next runner continues. Several runners may run at the same time.
#pragma once

#include "base/time.hpp"
#include "rules/connections/connection.hpp"
#include "service/context.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {
struct DueConnection;
struct RemovedConnection;
}  // namespace muster::store

namespace muster::service {

struct RefreshPlan;

// Limits the calls of a runner's lanes to each provider, so that one slow or unreachable provider
// never blocks all lanes. Thread-safe.
class ProviderLimits {
  public:
    // The maximum number of concurrent calls to one provider. An unreachable provider is skipped
    // for a minute, a slow one for as long as its answer took.
    static constexpr int kMostAtOnce = 2;

    // The providers to skip now.
    [[nodiscard]] std::vector<std::string> skipped();

  private:
    friend class ProviderPermit;
    struct Provider {
        int calls = 0;
        SteadyTime paused_until;
    };
    [[nodiscard]] bool enter(std::string_view provider);
    void leave(std::string_view provider, bool was_reached, Milliseconds took);

    std::mutex mutex_;
    std::map<std::string, Provider, std::less<>> providers_;
};

// Held while a lane calls the provider.
class ProviderPermit {
  public:
    ProviderPermit(ProviderLimits& limits, std::string_view provider);
    ~ProviderPermit();
    ProviderPermit(const ProviderPermit&) = delete;
    ProviderPermit& operator=(const ProviderPermit&) = delete;

    // False: do not call the provider.
    [[nodiscard]] bool is_allowed() const { return is_allowed_; }
    void mark_unreachable() { was_reached_ = false; }

  private:
    ProviderLimits& limits_;
    std::string provider_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    bool is_allowed_;
    bool was_reached_ = true;
};

// One lane, for one thread.
class ConnectionRefresher {
  public:
    // `limits` is shared by all lanes.
    ConnectionRefresher(Context& context, std::shared_ptr<ProviderLimits> limits);

    // Processes a few due connections and returns how many. Calls `should_stop` before each.
    int step(const std::function<bool()>& should_stop);

  private:
    struct Claimed;

    std::vector<store::DueConnection> find_due();
    // Returns false if another lane was faster.
    bool refresh(const store::DueConnection& due, ProviderPermit& permit);
    std::optional<Claimed> claim(const store::DueConnection& due);
    void postpone(OrgTransaction& transaction, const rules::ProviderConnection& connection,
                  const RefreshPlan& plan);
    bool revoke_removed(const store::DueConnection& due, ProviderPermit& permit);
    void revoke(OrgId organization, const store::RemovedConnection& removed,
                ProviderPermit& permit);
    void postpone_revocation(OrgId organization, const store::RemovedConnection& removed,
                             const std::string& code);
    void delete_removed(OrgId organization, const store::RemovedConnection& removed);
    void warn_of_unreadable(const rules::ProviderConnection& connection);

    Context& context_;
    Uuid owner_;
    std::shared_ptr<ProviderLimits> limits_;
    bool has_warned_ = false;
};

}  // namespace muster::service
