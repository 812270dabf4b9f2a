// A value that must not appear in a log or an error message.
#pragma once

#include <string>
#include <utility>

namespace muster {

// It has no stream operator. Its memory is cleared on destruction.
class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string value) : value_(std::move(value)) {}
    Secret(const Secret&) = default;
    Secret(Secret&&) = default;
    Secret& operator=(const Secret&) = default;
    Secret& operator=(Secret&&) = default;
    ~Secret();
    // The name makes each place that reads a secret easy to find.
    const std::string& reveal() const { return value_; }
    bool empty() const { return value_.empty(); }

  private:
    std::string value_;
};

}  // namespace muster
