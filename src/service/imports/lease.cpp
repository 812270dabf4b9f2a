#include "service/imports/lease.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/imports/discard.hpp"
#include "store/imports/jobs.hpp"

namespace muster::service {

using rules::ImportState;

namespace {

// False if the lease is lost.
bool finish(Context& context, const Lease& lease, ImportState from, ImportState to,
            const std::optional<rules::ImportFailure>& failure) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        const Timestamp now = Timestamp::now();
        const bool is_finished =
            store::finish_import(org, lease.id, lease.owner, from, to, failure, now);
        if (!is_finished) return false;
        store::begin_import_phase(org, lease.id, now);
        // Only a commit writes members that an undo needs the rows of.
        if (from == ImportState::Validating && to == ImportState::Failed) {
            OrgTransaction transaction{tx, {lease.organization}, now};
            discard_blocks(transaction, lease.id);
        }
        return true;
    });
}

}  // namespace

// Claims and releases run in transactions. After a lost connection, uncommitted changes are rolled
// back, so a second run finds the job unchanged.
std::optional<Lease> claim_due_import(Context& context, const Uuid& owner) {
    return context.database.transaction([&](db::Tx& tx) -> std::optional<Lease> {
        const Timestamp now = Timestamp::now();
        // A job that another runner claims at the same time is no longer due after the claim
        // waited.
        while (const auto due = store::find_due_import(tx, now)) {
            db::OrgStore org(tx, due->organization);
            if (store::claim_import(org, due->id, owner, now, lease_end(context, now))) {
                return Lease{due->organization, due->id, owner};
            }
        }
        return std::nullopt;
    });
}

bool is_another_import_due(Context& context) {
    return context.database.autocommit(
        [](db::Tx& tx) { return store::find_due_import(tx, Timestamp::now()).has_value(); });
}

void release_import(Context& context, const Lease& lease, AttemptPolicy policy,
                    Milliseconds pause) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        const Timestamp now = Timestamp::now();
        store::release_import(org, lease.id, lease.owner, policy == AttemptPolicy::Forgive, now,
                              now + pause);
    });
}

void fail_import(Context& context, const Lease& lease, ImportState from,
                 const rules::ImportFailure& failure) {
    finish(context, lease, from, ImportState::Failed, failure);
}

void finish_stage(Context& context, const Lease& lease, ImportState from, ImportState to) {
    if (!finish(context, lease, from, to, std::nullopt)) throw LeaseLost{};
}

}  // namespace muster::service
