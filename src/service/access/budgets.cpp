#include "service/access/budgets.hpp"

#include "base/crypto.hpp"
#include "store/access/sign_in.hpp"

namespace muster::service {

std::string admin_subject(std::string_view name, AdminId admin, std::string_view also) {
    std::string subject(name);
    subject.append(" ").append(admin.bytes()).append(also);
    return sha256(subject);
}

Spending try_spend(db::Tx& tx, std::string_view kind, std::string_view subject,
                   rules::Budget budget, Timestamp now) {
    rules::SpentTimes spent(store::lock_guess_budget(tx, kind, subject));
    if (const auto seconds = spent.exhausted(budget, now)) return {seconds};
    spent.spend(now, budget.within);
    store::write_guess_budget(tx, kind, subject, spent.packed(), now + budget.within);
    return {std::nullopt, spent.exhausted(budget, now).has_value()};
}

PartialSpending spend_up_to(db::Tx& tx, std::string_view kind, std::string_view subject,
                            rules::Budget budget, std::size_t most, Timestamp now) {
    rules::SpentTimes spent(store::lock_guess_budget(tx, kind, subject));
    PartialSpending done;
    while (done.count < most && !spent.exhausted(budget, now)) {
        spent.spend(now, budget.within);
        ++done.count;
    }
    if (done.count == 0) return done;
    store::write_guess_budget(tx, kind, subject, spent.packed(), now + budget.within);
    done.is_last = spent.exhausted(budget, now).has_value();
    return done;
}

}  // namespace muster::service
