// The tables with values that are sealed under the installation's key. `musterctl secret rotate`
// re-encrypts them (base/sealing.hpp).
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

// A table with one sealed column. `page` returns at most `limit` rows after an id, locked. `sample`
// returns its first rows, without locks. `write` sets the column of one row.
struct SealedTable {
    std::string_view name;
    // The context for KeyRing::seal().
    std::string (*context)(std::string_view id);
    std::vector<SealedRow> (*page)(db::Tx& tx, std::string_view after, int limit);
    std::vector<SealedRow> (*sample)(db::Tx& tx, int limit);
    void (*write)(db::Tx& tx, std::string_view id, std::string_view sealed);
};

std::span<const SealedTable> sealed_tables();

}  // namespace muster::store
