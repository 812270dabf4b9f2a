// What rests sealed under the installation's key, table by table: for `musterctl secret rotate`,
// which seals it anew (base/sealing.hpp).
#pragma once

#include "db/transaction.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

struct SealedRow {
    std::string id;  // the row's key, bytes; ascending
    std::string sealed;
};

// A table with one sealed column. `page`: at most ? rows behind an id, locked; `write`: the column
// by id.
struct SealedTable {
    std::string_view name;
    // What KeyRing::seal() binds to a row's value.
    std::string (*context)(std::string_view id);
    std::vector<SealedRow> (*page)(db::Tx& tx, std::string_view after, int limit);
    void (*write)(db::Tx& tx, std::string_view id, std::string_view sealed);
};

std::span<const SealedTable> sealed_tables();

}  // namespace muster::store
