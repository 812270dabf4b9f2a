// Sends the mail that waits: service/mail.hpp has the steps.
#pragma once

#include "jobs/runner.hpp"
#include "service/context.hpp"
#include "service/mail.hpp"

namespace muster::jobs {

class MailWork : public Work {
  public:
    explicit MailWork(service::Context& context) : dispatch_(context) {}

    std::string_view name() const override { return "mail"; }
    bool turn(const Deadline& deadline) override;

  private:
    service::MailDispatch dispatch_;
};

}  // namespace muster::jobs
