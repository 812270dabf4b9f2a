// Looks after connections to providers of external data: service/connection_upkeep.hpp has the
// steps. Several of these work side by side, so that a slow provider holds up a part of them only.
#pragma once

#include "jobs/runner.hpp"
#include "service/connection_upkeep.hpp"
#include "service/context.hpp"

namespace muster::jobs {

class ConnectionWork : public Work {
  public:
    explicit ConnectionWork(service::Context& context) : upkeep_(context) {}

    std::string_view name() const override { return "connections"; }
    bool turn(const Deadline& deadline) override;

  private:
    service::ConnectionUpkeep upkeep_;
    Timestamp next_look_;
};

}  // namespace muster::jobs
