#include "service/imports/jobs.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/json.hpp"
#include "base/settings/limits.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "service/imports/discard.hpp"
#include "service/quotas.hpp"
#include "store/imports/jobs.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::ImportState;

// What a job's record takes in addition to its texts, so that jobs without rows are bounded too.
constexpr std::int64_t kJobBytes = 1024;

// Fills in the place among the jobs that wait for a runner.
void add_queue_position(db::Tx& tx, rules::ImportJob& job, Timestamp now) {
    constexpr int kMostAhead = 99;
    if (!rules::is_in_progress(job.state)) return;
    if (job.is_leased && job.lease_until > now) {
        job.queue_position = 0;
    } else {
        job.queue_position =
            1 + store::count_imports_ahead(tx, job.served_at, job.created_at, now, kMostAhead);
    }
}

std::string mapping_json(const rules::Mapping& mapping) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object();
    writer.key("columns");
    writer.begin_array();
    for (const rules::MappingColumn& column : mapping.columns) {
        writer.begin_object();
        const auto member = [&](std::string_view name, const std::string& value) {
            if (value.empty()) return;
            writer.key(name);
            writer.string(value);
        };
        member("sourceColumn", column.source_column);
        member("target", column.target);
        member("fieldKey", column.field_key);
        member("attributeKey", column.attribute_key);
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    return text;
}

// The mapping is the only large part of a job.
constexpr std::size_t kPageMappingBytes = std::size_t{4} << 20U;
constexpr int kJobsPerRead = 25;

bool is_full(const ImportPage& page, int limit, std::size_t mapping_bytes) {
    return static_cast<int>(page.jobs.size()) == limit || mapping_bytes >= kPageMappingBytes;
}

}  // namespace

void reject_import_state(ImportState state, std::string_view expected) {
    throw Error(ErrorCode::ImportJobInvalidState)
        .detail("state", std::string(text_of(state)))
        .detail("expected", std::string(expected));
}

rules::ImportJob lock_import(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = store::lock_import(org, id, transaction.now);
    if (!job) throw Error(ErrorCode::NotFound);
    return std::move(*job);
}

rules::ImportJob find_import(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = store::find_import(org, id, transaction.now);
    if (!job) throw Error(ErrorCode::NotFound);
    add_queue_position(transaction.tx, *job, transaction.now);
    return std::move(*job);
}

rules::ImportJob create_import(OrgTransaction& transaction, const LimitsSettings& limits,
                               const NewImport& in) {
    db::OrgStore org(transaction.tx, transaction.org());
    Faults faults;
    rules::check_mapping(in.mapping, attribute_registry(transaction.tx, transaction.org()), faults);
    if (!faults.empty()) throw Error(ErrorCode::ImportMappingInvalid).fields(faults);

    rules::ImportJob job;
    job.id = ImportId::create();
    job.organization_id = transaction.org();
    job.created_by_id = transaction.actor.admin;
    job.created_by_email = transaction.actor.admin_email;
    job.source = transaction.actor.admin ? rules::ImportSource::Console : rules::ImportSource::Api;
    job.mapping = mapping_json(in.mapping);
    job.file_name = in.file_name;
    job.declared_total = in.declared_total;
    job.created_at = job.updated_at = transaction.now;
    job.phase_started_at = transaction.now;
    job.expires_at = transaction.now + kImportRetention;
    if (const auto active = store::insert_import(org, job)) {
        throw Error(ErrorCode::ImportJobActiveExists).detail("job_id", active->text());
    }
    store::begin_import_phase(org, job.id, transaction.now);
    take(org, rules::Quota::StagedBytes,
         kJobBytes + static_cast<std::int64_t>(job.mapping.size() + job.file_name.size()),
         bytes_of_mib(limits.staged_mib), transaction.now);
    audit(transaction, "import.created", job.id.text());
    return job;
}

rules::ImportJob validate_import(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto job = lock_import(transaction, id);
    if (job.state != ImportState::Staging) reject_import_state(job.state, "staging");
    store::move_import_to_validating(org, id, false, transaction.now);
    store::begin_import_phase(org, id, transaction.now);
    return find_import(transaction, id);
}

rules::ImportJob commit_import(OrgTransaction& transaction, ImportId id,
                               std::optional<bool> dry_run) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = lock_import(transaction, id);
    if (job.state == ImportState::Validated) {
        if (dry_run == true) return job;  // the dry run has already been done
        store::move_import(org, id, ImportState::Validated, ImportState::Committing,
                           transaction.now);
    } else if (job.state == ImportState::Staging && dry_run == false) {
        store::move_import_to_validating(org, id, true, transaction.now);
    } else {
        reject_import_state(job.state, "validated");
    }
    store::begin_import_phase(org, id, transaction.now);
    audit(transaction, "import.committed", id.text());
    return find_import(transaction, id);
}

rules::ImportJob reopen_import(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = lock_import(transaction, id);
    if (job.state == ImportState::Staging) return job;
    if (job.state != ImportState::Validated) {
        reject_import_state(job.state, "validated or staging");
    }
    store::move_import_to_staging(org, id, transaction.now);
    store::begin_import_phase(org, id, transaction.now);
    store::clear_row_errors(org, id);
    audit(transaction, "import.reopened", id.text());
    return find_import(transaction, id);
}

rules::ImportJob cancel_import(OrgTransaction& transaction, ImportId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = lock_import(transaction, id);
    if (job.state == ImportState::Canceled) return job;
    if (!rules::can_cancel(job.state))
        reject_import_state(job.state, "staging, validating or validated");
    store::move_import(org, id, job.state, ImportState::Canceled, transaction.now);
    store::begin_import_phase(org, id, transaction.now);
    discard_blocks(transaction, id);
    audit(transaction, "import.canceled", id.text());
    return find_import(transaction, id);
}

void cancel_import_now(Context& context, OrgId organization, ImportId id) {
    context.database.transaction([&](db::Tx& tx) {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        if (lock_import(transaction, id).state == ImportState::Canceled) return;
        cancel_import(transaction, id);
        audit_operator(tx, organization, "import.canceled", id.text(), {}, transaction.now);
    });
}

std::optional<rules::ImportJob> read_import(Context& context, OrgId organization, ImportId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        auto job = store::find_import(org, id, now);
        if (job) add_queue_position(tx, *job, now);
        return job;
    });
}

std::optional<rules::ImportJob> poll_import(Context& context, OrgId organization, ImportId id) {
    auto job = read_import(context, organization, id);
    if (!job || job->state != ImportState::Validated || !job->commit_requested) return job;
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        // The request may have been withdrawn since the read above.
        if (store::start_requested_commit(org, id, now)) store::begin_import_phase(org, id, now);
        auto moved = store::find_import(org, id, now);
        if (moved) add_queue_position(tx, *moved, now);
        return moved;
    });
}

ImportPage list_imports(Context& context, OrgId organization, std::optional<ImportId> before,
                        std::optional<ImportState> state, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        ImportPage page{{}, before};
        std::size_t bytes = 0;
        for (bool has_more = true; has_more;) {
            const int left = limit - static_cast<int>(page.jobs.size());
            const int most = std::min(left + 1, kJobsPerRead);
            auto jobs = store::page_imports(org, page.next, state, most, now);
            has_more = static_cast<int>(jobs.size()) == most;
            for (rules::ImportJob& job : jobs) {
                if (is_full(page, limit, bytes)) return page;
                // At most one job of an organization is active.
                add_queue_position(tx, job, now);
                bytes += job.mapping.size();
                page.next = job.id;
                page.jobs.push_back(std::move(job));
            }
        }
        page.next = std::nullopt;
        return page;
    });
}

}  // namespace muster::service
