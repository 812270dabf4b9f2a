// Delivers webhooks: service/webhooks/dispatch.hpp has the steps.
#pragma once

#include "jobs/runner.hpp"
#include "service/context.hpp"
#include "service/webhooks/dispatch.hpp"

namespace muster::jobs {

class WebhookWork : public Work {
  public:
    explicit WebhookWork(service::Context& context) : dispatch_(context) {}

    std::string_view name() const override { return "webhooks"; }
    // Lasts until the deadline: it has a pace of its own, and an end to bring to order.
    bool turn(const Deadline& deadline) override;

  private:
    service::WebhookDispatch dispatch_;
};

}  // namespace muster::jobs
