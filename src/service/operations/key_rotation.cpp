#include "service/operations/key_rotation.hpp"

#include "db/transaction.hpp"
#include "service/audit.hpp"
#include "store/operations/key_rotation.hpp"

namespace muster::service {
namespace {

constexpr int kAtOnce = 100;

// Re-encrypts one page. Returns the id of its last row, "" after the last page.
std::string reseal_page(Context& context, const store::SealedTable& table, const std::string& after,
                        Resealed& count) {
    Resealed page;
    std::string last;
    context.database.transaction([&](db::Tx& tx) {
        page = {};
        const auto rows = table.page(tx, after, kAtOnce);
        for (const auto& row : rows) {
            const std::string bound = table.context(row.id);
            if (context.keys.is_current(row.sealed)) {
                ++page.current;
            } else if (const auto plain = context.keys.open(row.sealed, bound)) {
                table.write(tx, row.id, context.keys.seal(plain->reveal(), bound));
                ++page.resealed;
            } else {
                ++page.unreadable;
            }
        }
        last = rows.size() == kAtOnce ? rows.back().id : "";
    });
    count.resealed += page.resealed;
    count.current += page.current;
    count.unreadable += page.unreadable;
    return last;
}

}  // namespace

std::vector<Resealed> rotate_secrets(Context& context) {
    std::vector<Resealed> counts;
    std::int64_t resealed = 0;
    for (const auto& table : store::sealed_tables()) {
        Resealed& count = counts.emplace_back();
        count.what = table.name;
        std::string after;
        do {
            after = reseal_page(context, table, after, count);
        } while (!after.empty());
        resealed += count.resealed;
    }
    context.database.transaction([&](db::Tx& tx) {
        audit_operator(tx, std::nullopt, "secrets.rotated", "",
                       {{"resealed", std::to_string(resealed)}}, Timestamp::now());
    });
    return counts;
}

}  // namespace muster::service
