#include "api/waiting_places.hpp"

#include <utility>

namespace muster::api {

class WaitingPlaces::Token {
  public:
    Token(std::shared_ptr<Counts> counts, std::string organization)
        : counts_(std::move(counts)), organization_(std::move(organization)) {
        ++(*counts_)[organization_];
    }
    ~Token() {
        const auto found = counts_->find(organization_);
        if (--found->second == 0) counts_->erase(found);
    }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;

  private:
    std::shared_ptr<Counts> counts_;
    std::string organization_;
};

WaitingPlaces::Place WaitingPlaces::take(const std::string& organization) {
    return std::make_shared<const Token>(counts_, organization);
}

std::size_t WaitingPlaces::of(const std::string& organization) const {
    const auto found = counts_->find(organization);
    return found == counts_->end() ? 0 : found->second;
}

std::size_t WaitingPlaces::of_all() const {
    std::size_t sum = 0;
    for (const auto& [organization, count] : *counts_) sum += count;
    return sum;
}

}  // namespace muster::api
