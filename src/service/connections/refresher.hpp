// The runner's side of connections: refreshes tokens when they are due, reports access that has
// ended, and gives back the tokens of connections that were removed (docs/external-data.md
// "Tokens"). Killed anywhere, the lease runs out and the next runner goes on. Any number of them
// may work side by side.
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

// Which providers the lanes of a runner leave alone for a while, so that one that hangs or is slow
// never takes them all.
// For several threads.
class ProviderLimits {
  public:
    // A provider that did not answer rests for a minute, one that was slow as long as it took; and
    // this many ask the same one at a time.
    static constexpr int kMostAtOnce = 2;

    // Whom to leave alone now.
    [[nodiscard]] std::vector<std::string> avoided();

  private:
    friend class ProviderVisit;
    struct Provider {
        int visits = 0;
        Timestamp rests_until;
    };
    [[nodiscard]] bool enter(std::string_view provider);
    void leave(std::string_view provider, bool was_reached, Milliseconds took);

    std::mutex mutex_;
    std::map<std::string, Provider, std::less<>> providers_;
};

// While a lane works on a connection to the provider.
class ProviderVisit {
  public:
    ProviderVisit(ProviderLimits& limits, std::string_view provider);
    ~ProviderVisit();
    ProviderVisit(const ProviderVisit&) = delete;
    ProviderVisit& operator=(const ProviderVisit&) = delete;

    // False: leave it alone.
    [[nodiscard]] bool is_allowed() const { return is_allowed_; }
    void note_unreached() { was_reached_ = false; }

  private:
    ProviderLimits& limits_;
    std::string provider_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    bool is_allowed_;
    bool was_reached_ = true;
};

// One lane of the refreshes, for one thread.
class ConnectionRefresher {
  public:
    // `limits`: of all lanes together.
    ConnectionRefresher(Context& context, std::shared_ptr<ProviderLimits> limits);

    // Works on a few connections that are due; how many. `is_over` is asked before each.
    int step(const std::function<bool()>& is_over);

  private:
    struct Claimed;

    std::vector<store::DueConnection> look_for_due();
    // False where another was faster.
    bool refresh(const store::DueConnection& due, ProviderVisit& visit);
    std::optional<Claimed> claim(const store::DueConnection& due);
    void put_off(OrgTransaction& transaction, const rules::ProviderConnection& connection,
                 const RefreshPlan& plan);
    bool give_back(const store::DueConnection& due, ProviderVisit& visit);
    void try_to_give_back(OrgId organization, const store::RemovedConnection& removed,
                          ProviderVisit& visit);
    void try_again(OrgId organization, const store::RemovedConnection& removed,
                   const std::string& code);
    void forget(OrgId organization, const store::RemovedConnection& removed);
    void warn_of_unreadable(const rules::ProviderConnection& connection);

    Context& context_;
    Uuid owner_;
    std::shared_ptr<ProviderLimits> limits_;
    bool has_warned_ = false;
};

}  // namespace muster::service
