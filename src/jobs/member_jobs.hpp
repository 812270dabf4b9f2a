// The runner's turns on member jobs (service/member_jobs/run.hpp).
#pragma once

#include "jobs/runner.hpp"
#include "service/member_jobs/run.hpp"

#include <string_view>

namespace muster::jobs {

class MemberJobWork {
  public:
    explicit MemberJobWork(service::Context& context);

    // Works on the job that has waited longest, for half a second. Returns false if none is due.
    bool turn(const Deadline& deadline);

  private:
    void run(const service::MemberJobLease& lease, const Deadline& deadline);
    void fail_or_pause(const service::MemberJobLease& lease, std::string_view reason);

    service::Context& context_;
    Uuid owner_;
};

}  // namespace muster::jobs
