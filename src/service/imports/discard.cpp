#include "service/imports/discard.hpp"

#include "db/transaction.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/discards.hpp"

namespace muster::service {
namespace {

// A block is up to 4 MiB, and usually a hundred KiB.
constexpr int kDiscardedAtOnce = 20;

}  // namespace

void discard_blocks(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    store::insert_import_discard(org, id);
}

bool delete_discarded_blocks(Context& context) {
    return context.database.transaction([](db::Tx& tx) {
        const auto job = store::lock_import_discard(tx);
        if (!job) return false;
        db::OrgStore org(tx, job->organization);
        if (store::delete_some_blocks(org, job->id, kDiscardedAtOnce) < kDiscardedAtOnce) {
            store::delete_import_discard(org, job->id);
        }
        return true;
    });
}

}  // namespace muster::service
