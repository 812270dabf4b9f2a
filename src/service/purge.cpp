#include "service/purge.hpp"

#include "db/transaction.hpp"
#include "store/idempotency.hpp"
#include "store/import_blocks.hpp"
#include "store/imports.hpp"

namespace muster::service {
namespace {

constexpr int kImportsAtOnce = 20;
constexpr int kBlocksAtOnce = 100;
constexpr int kKeysAtOnce = 1000;

// A job without its blocks is nothing, so the blocks go first and the job last: killed in between,
// the next run goes on.
void purge_import(Context& context, const store::ClaimedImport& job, Purged& purged) {
    const auto deleted = context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, job.organization);
        return store::delete_some_blocks(org, job.id, kBlocksAtOnce);
    });
    purged.blocks += deleted;
    if (deleted == kBlocksAtOnce) return;
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, job.organization);
        store::delete_import(org, job.id);
    });
    ++purged.imports;
}

}  // namespace

Purged purge_step(Context& context) {
    const Timestamp now = Timestamp::now();
    Purged purged;
    const auto expired = context.database.read(
        [&](db::Tx& tx) { return store::find_expired_imports(tx, now, kImportsAtOnce); });
    for (const auto& job : expired) purge_import(context, job, purged);
    purged.idempotency_keys = context.database.transaction(
        [&](db::Tx& tx) { return store::purge_idempotency_keys(tx, now, kKeysAtOnce); });
    return purged;
}

}  // namespace muster::service
