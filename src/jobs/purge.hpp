// The daily purge: service/operations/purge.hpp says what goes.
#pragma once

#include "jobs/runner.hpp"
#include "service/context.hpp"

namespace muster::jobs {

class PurgeWork : public Work {
  public:
    // `repeats`: looks again every few minutes instead of ending (muster-run all).
    PurgeWork(service::Context& context, bool repeats) : context_(context), repeats_(repeats) {}

    std::string_view name() const override { return "purge"; }
    bool turn(const Deadline& deadline) override;
    bool ends_when_idle() const override { return !repeats_; }

  private:
    service::Context& context_;
    bool repeats_;
    Timestamp next_look_;
};

}  // namespace muster::jobs
