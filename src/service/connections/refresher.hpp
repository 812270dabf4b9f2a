// The runner's side of connections: refreshes tokens when they are due, tells of access that has
// ended, and gives back the tokens of connections that were removed (docs/external-data.md
// "Tokens"). Killed anywhere, the lease runs out and the next runner goes on. Any number of them
// may work side by side.
#pragma once

#include "rules/connections/connection.hpp"
#include "service/connections/provider_limits.hpp"
#include "service/context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::rules {
struct Connection;
}
namespace muster::store {
struct DueConnection;
struct RemovedConnection;
}  // namespace muster::store

namespace muster::service {

struct RefreshPlan;

// One lane of it, for one thread.
class ConnectionUpkeep {
  public:
    // `traffic`: of all lanes together.
    ConnectionUpkeep(Context& context, std::shared_ptr<ProviderTraffic> traffic);

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
    void tell_of_unreadable(const rules::ProviderConnection& connection);

    Context& context_;
    Uuid owner_;
    std::shared_ptr<ProviderTraffic> traffic_;
    bool told_of_unreadable_ = false;
};

}  // namespace muster::service
