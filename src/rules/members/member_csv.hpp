// Members as CSV in the columns of an import (docs/api/users.md "GET /v1/users/export").
#pragma once

#include "base/csv.hpp"

#include <string>
#include <vector>

namespace muster::rules {

class AttributeRegistry;
struct Member;

// The columns are the core fields and the enabled attributes by key. muster-import reads them back.
class MemberCsv {
  public:
    MemberCsv(const AttributeRegistry& registry, CsvCells cells);
    void append_header(std::string& to) const;
    void append(std::string& to, const Member& member) const;

  private:
    CsvCells cells_;
    std::vector<std::string> keys_;
};

}  // namespace muster::rules
