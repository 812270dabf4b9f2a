// Looks after connections to providers of external data: service/connections/refresher.hpp has the
// steps. Several of these work side by side, so that a slow provider holds up a part of them only.
#pragma once

#include "jobs/runner.hpp"
#include "service/connections/refresher.hpp"
#include "service/context.hpp"

#include <memory>
#include <utility>

namespace muster::jobs {

class ConnectionWork : public Work {
  public:
    // `traffic`: of all lanes together.
    ConnectionWork(service::Context& context, std::shared_ptr<service::ProviderTraffic> traffic)
        : upkeep_(context, std::move(traffic)) {}

    std::string_view name() const override { return "connections"; }
    bool turn(const Deadline& deadline) override;

  private:
    service::ConnectionUpkeep upkeep_;
    Timestamp next_look_;
};

}  // namespace muster::jobs
