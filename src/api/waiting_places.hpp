// The places of the requests that wait in a worker, counted by organization.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace muster::api {

class WaitingPlaces {
  public:
    // A taken place. It is free again when the last copy of it is destroyed, whether the request
    // was answered or lost with its batch.
    using Place = std::shared_ptr<const void>;
    [[nodiscard]] Place take(const std::string& organization);

    [[nodiscard]] std::size_t of(const std::string& organization) const;
    [[nodiscard]] std::size_t of_all() const;

  private:
    // Of each organization that has any.
    using Counts = std::map<std::string, std::size_t>;
    class Token;
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // also owned by each place
};

}  // namespace muster::api
