// Import jobs for the database tests: rows to stage, and the steps of the runner without a runner.
#pragma once

#include "db/fixture.hpp"
#include "service/imports/commit.hpp"
#include "service/imports/dry_run.hpp"
#include "service/imports/jobs.hpp"
#include "service/imports/rows.hpp"
#include "service/imports/staging.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"

#include "print.hpp"

#include <map>
#include <string>
#include <vector>

namespace muster::test {

inline service::NewRow row(std::int64_t number, std::string email, std::string attributes = "") {
    service::NewRow made{number, {}};
    made.fields.email = std::move(email);
    made.fields.attributes = std::move(attributes);
    return made;
}

// Rows first, first + step, … of `count` people, m<number>@example.test.
inline std::vector<service::NewRow> people(std::int64_t first, std::int64_t count,
                                           std::int64_t step = 1) {
    std::vector<service::NewRow> rows;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t number = first + i * step;
        rows.push_back(row(number, "m" + std::to_string(number) + "@example.test"));
    }
    return rows;
}

inline rules::Mapping email_mapping() {
    return {{{"Mail", "core_field", "email", ""}}};
}

// The number of rows with each result.
using Tally = std::map<std::string, int>;

// The fixture: an organization, and helpers for its imports.
struct ImportFixture : Fixture {
    ImportId new_import(OrgId organization) {
        return as(organization, [this](service::OrgTransaction& transaction) {
            return service::create_import(transaction, context.settings.limits,
                                          {"members.csv", 10, email_mapping()})
                .id;
        });
    }
    ImportId new_import() { return new_import(acme); }
    void stage(ImportId id, const std::vector<service::NewRow>& rows) {
        as(acme, [&](service::OrgTransaction& transaction) {
            service::stage_rows(transaction, context.settings.limits, id, rows);
        });
    }
    ImportId staged(const std::vector<service::NewRow>& rows) {
        const ImportId id = new_import();
        stage(id, rows);
        return id;
    }
    void validate(ImportId id) {
        as(acme, [&](service::OrgTransaction& transaction) {
            service::validate_import(transaction, id);
        });
    }
    void request_commit(ImportId id, std::optional<bool> dry_run = std::nullopt) {
        as(acme, [&](service::OrgTransaction& transaction) {
            service::commit_import(transaction, id, dry_run);
        });
    }
    rules::ImportJob reopen(ImportId id) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::reopen_import(transaction, id);
        });
    }
    void cancel(ImportId id) { service::cancel_import_now(context, acme, id); }

    rules::ImportJob job(ImportId id) {
        const auto job = service::read_import(context, acme, id);
        BOOST_TEST_REQUIRE(job.has_value());
        return *job;
    }
    // The next due job, under the lease of a new runner.
    service::Lease lease() {
        const auto lease = service::claim_due_import(context, Uuid::v7());
        BOOST_TEST_REQUIRE(lease.has_value());
        return *lease;
    }

    // One step of the dry run; false if no row was left to validate.
    bool check_next(const service::Lease& lease, service::DryRun& run) {
        const auto batch = service::validate_next(context, lease, run);
        if (!batch) return false;
        batch->record(context, lease, batch->preview(context, lease, 0, 1));
        return true;
    }
    void check_rest(const service::Lease& lease) {
        auto run = service::resume_dry_run(context, job(lease.id));
        while (check_next(lease, run)) continue;
        service::finish_dry_run(context, lease);
    }
    void commit_rest(const service::Lease& lease) {
        for (const auto& transaction : service::next_commit_units(context, lease, {}, 1000)) {
            service::commit_unit(context, lease, transaction);
        }
        service::complete_import(context, lease);
    }
    ImportId validated(const std::vector<service::NewRow>& rows) {
        const ImportId id = staged(rows);
        validate(id);
        check_rest(lease());
        return id;
    }
    ImportId completed(const std::vector<service::NewRow>& rows) {
        const ImportId id = validated(rows);
        request_commit(id);
        commit_rest(lease());
        return id;
    }

    std::vector<rules::ImportRow> rows(ImportId id,
                                       std::optional<rules::RowState> state = std::nullopt) {
        std::vector<rules::ImportRow> all;
        for (std::int64_t after = 0;;) {
            service::RowFilter filter;
            if (state) filter.states.push_back(*state);
            auto page = service::list_import_rows(context, acme, id, after, filter, 1'000'000);
            BOOST_TEST_REQUIRE(page.has_value());
            all.insert(all.end(), page->rows.begin(), page->rows.end());
            if (!page->next) return all;
            after = *page->next;
        }
    }
    // "created", or "invalid ROW_DUPLICATE_IN_FILE", by row number.
    std::map<std::int64_t, std::string> outcomes(ImportId id) {
        std::map<std::int64_t, std::string> all;
        for (const auto& row : rows(id)) {
            std::string text(text_of(row.state));
            if (row.error != rules::RowError::None) text += " " + std::string(text_of(row.error));
            all[row.row_number] = text;
        }
        return all;
    }
    Tally tally(ImportId id) {
        Tally tally;
        for (const auto& [number, outcome] : outcomes(id)) ++tally[outcome];
        return tally;
    }
    // Gives the members a further attribute of 800 KB.
    void enlarge_members(std::string_view condition = "1 = 1") {
        client.run(
            "UPDATE members SET attributes = CONCAT('{\"note\":[\"', REPEAT('x', 800000), "
            "'\",\"api\",1]}') WHERE " +
            std::string(condition));
    }
    std::int64_t members() { return client.number("SELECT COUNT(*) FROM members"); }

    OrgId acme = organization("Acme");
};

}  // namespace muster::test
