// A value that must not reach a log or an error message.
#pragma once

#include <string>
#include <utility>

namespace muster {

// Has no stream operator; its memory is erased on destruction.
class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string value) : value_(std::move(value)) {}
    Secret(const Secret&) = default;
    Secret(Secret&&) = default;
    Secret& operator=(const Secret&) = default;
    Secret& operator=(Secret&&) = default;
    ~Secret();
    // Named so that a search finds each place that reads a secret.
    const std::string& reveal() const { return value_; }
    bool empty() const { return value_.empty(); }

  private:
    std::string value_;
};

}  // namespace muster
