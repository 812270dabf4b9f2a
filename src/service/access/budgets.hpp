// What a subject may do a number of times in a period (table guess_budgets).
#pragma once

#include "base/ids.hpp"
#include "db/transaction.hpp"
#include "rules/access/guess_budget.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::service {

struct Spending {
    std::optional<int> wait_seconds;  // set if the budget is used up, and nothing was spent
    bool is_last = false;             // the budget is used up now
};

// The kind of the budgets of admins: a kind of their own would change the schema.
inline constexpr std::string_view kAdminBudget = "security_notice";
// The subject of an admin's budget with this name. `also`: the id of another record that it is for.
std::string admin_subject(std::string_view name, AdminId admin, std::string_view also = {});

// Spends one of the budget. `kind` and `subject` as in store/access/sign_in.hpp. Others wait for
// the same row until the transaction ends.
Spending try_spend(db::Tx& tx, std::string_view kind, std::string_view subject,
                   rules::Budget budget, Timestamp now);

struct PartialSpending {
    std::size_t count = 0;  // that were spent
    bool is_last = false;   // these used up the budget
};

// The same, but spends up to `most` of the budget: as many as are left.
PartialSpending spend_up_to(db::Tx& tx, std::string_view kind, std::string_view subject,
                            rules::Budget budget, std::size_t most, Timestamp now);

}  // namespace muster::service
