#include "db/members.hpp"

#include "rules/attributes.hpp"

namespace muster::test {

Batch& Batch::add(std::string email, std::array<std::string, 7> texts,
                  const std::string& attributes, Timestamp now) {
    owned_.push_back({std::move(email), std::move(texts),
                      rules::attribute_document(attributes, rules::Provenance::Import, now)});
    ids_.emplace_back(UserId::create(), MemberId::create());
    return *this;
}

}  // namespace muster::test
