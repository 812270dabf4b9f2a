// Whether other organizations send requests too. All workers share the table in memory mapped
// before the fork.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::process {

class ActiveOrganizations {
  public:
    using Clock = std::chrono::steady_clock;  // the same for all processes of the machine

    // An organization is active for this time after each request.
    static constexpr std::chrono::seconds kActive{10};

    ActiveOrganizations();  // construct before the fork
    ~ActiveOrganizations();
    ActiveOrganizations(const ActiveOrganizations&) = delete;
    ActiveOrganizations& operator=(const ActiveOrganizations&) = delete;

    // Notes a request of the organization. Never waits.
    void note(std::string_view organization, Clock::time_point now = Clock::now());
    bool has_others(std::string_view organization, Clock::time_point now = Clock::now()) const;

  private:
    // The two latest organizations are enough: one of them is another one.
    static constexpr std::size_t kPlaces = 2;
    struct Place;
    Place* table_;
};

}  // namespace muster::process
