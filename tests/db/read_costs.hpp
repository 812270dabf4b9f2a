// What each list and look-up of store/ reads in a database that grew faster than its statistics.
// MariaDB and MySQL keep the statistics of a table as they were when it was opened, so a statement
// without an index hint may read a whole organization after the first import.
#pragma once

#include "db/upgrade_database.hpp"

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::test {

inline constexpr int kPage = 50;    // rows of a page
inline constexpr int kAsked = 100;  // values of an IN list
// Entries that a statement may read in addition to its rows: the ends of its ranges.
inline constexpr std::int64_t kEnds = 10;
inline constexpr std::int64_t kOnePage = kPage + kEnds;

// Row `number` of a table, 1 or more.
template <class IdType = Uuid>
IdType id_of(std::int64_t number) {
    std::string bytes(Uuid::kBytes, '\0');
    for (std::size_t i = bytes.size(); number > 0; number >>= 8) {
        bytes[--i] = static_cast<char>(number & 0xff);
    }
    return IdType(*Uuid::from_bytes(bytes));
}
// The ids of kAsked rows.
template <class IdType>
std::vector<IdType> some_ids() {
    std::vector<IdType> ids;
    for (int i = 1; i <= kAsked; ++i) ids.push_back(id_of<IdType>(i));
    return ids;
}
// prefix1, prefix2, … of kAsked rows.
std::vector<std::string> some_texts(std::string_view prefix);
// The 32 bytes of row `number`, for hashes.
std::string hash_of(std::int64_t number);
// The hashes of the first kAsked rows.
std::vector<std::string> some_hashes();

// A call that runs statements of store/, and the number of entries of tables and indexes that it
// may read. `run` returns the number of found rows.
struct MeasuredCall {
    std::vector<std::string> statements;
    std::int64_t most_entries = 0;
    std::function<std::size_t(db::Tx&, db::OrgStore&)> run;
};

template <class Found>
std::size_t count_of(const Found& found) {
    if constexpr (std::convertible_to<Found, std::int64_t>) {
        return static_cast<std::size_t>(found);
    } else if constexpr (requires { found.has_value(); }) {
        return found.has_value() ? 1 : 0;
    } else {
        return found.size();
    }
}

// `call` takes the OrgStore or the Tx, and returns rows or their number.
template <class Call>
MeasuredCall measured(std::vector<std::string> statements, std::int64_t most_entries, Call call) {
    return {std::move(statements), most_entries, [call](db::Tx& tx, db::OrgStore& org) {
                if constexpr (std::invocable<Call, db::OrgStore&>) {
                    return count_of(call(org));
                } else {
                    return count_of(call(tx));
                }
            }};
}

// The calls by family; all_measured_calls() joins them.
std::vector<MeasuredCall> member_calls();
std::vector<MeasuredCall> import_calls();
std::vector<MeasuredCall> access_calls();
std::vector<MeasuredCall> page_calls();
std::vector<MeasuredCall> module_calls();
std::vector<MeasuredCall> webhook_calls();
std::vector<MeasuredCall> purge_calls();
std::vector<MeasuredCall> organization_calls();
std::vector<MeasuredCall> all_measured_calls();

// A separate database with empty tables, which no test has opened before.
struct ReadCosts : NewDatabase {
    ReadCosts();
    // Adds the rows `from` … `to` to each table of an organization; small tables get fewer.
    void fill(OrgId organization, int from, int to);
    // Adds that number of members to acme, as an import does.
    void import_members(int count);
    // Of the session that runs the calls, so far.
    std::int64_t entries_read();
    // The number of entries that the call reads. Undoes its changes.
    std::int64_t cost_of(const MeasuredCall& call, std::size_t& found);
    // Opens all tables and prepares all statements.
    void run_all_calls();
    void check_all_calls();

    const OrgId acme = id_of<OrgId>(1);
    const OrgId umbrella = id_of<OrgId>(2);
};

}  // namespace muster::test
