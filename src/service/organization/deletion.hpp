// Deletes an organization with everything that belongs to it: `musterctl org delete`, and the
// runner, which finishes what musterctl began.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Rows are counted up to this number in each table.
inline constexpr std::int64_t kMostPreviewedRows = 100'000;

struct TableCount {
    std::string_view table;
    std::int64_t rows = 0;  // up to kMostPreviewedRows + 1
};

// The tables that hold rows of the organization, with their numbers of rows.
std::vector<TableCount> preview_organization_deletion(Context& context, OrgId organization);

// Disables the organization permanently; the steps below delete its rows. They keep users who are
// members of other organizations, and delete the others with their membership. Does nothing if it
// was requested before. Throws NOT_FOUND.
void request_organization_deletion(Context& context, OrgId organization);

enum class DeletionState : std::uint8_t {
    Working,  // rows are left
    Waiting,  // connections are left whose tokens must be revoked, or entries of the audit log that
              // are younger than 30 days
    Done,     // the organization does not exist any more
};

// A deletion in steps. Steps of several processes take turns. A step that is interrupted changes
// nothing, so any process can continue later.
class OrganizationDeletion {
  public:
    OrganizationDeletion(Context& context, OrgId organization)
        : context_(context), organization_(organization) {}

    // One transaction of a bounded number of rows.
    DeletionState step();

  private:
    DeletionState finish(db::Tx& tx);

    Context& context_;
    OrgId organization_;
    // A pass goes through all tables. The last one deletes no row.
    std::size_t table_ = 0;
    std::int64_t deleted_in_pass_ = 0;
};

// Runs the steps until they wait or `should_stop`.
DeletionState delete_organization(Context& context, OrgId organization,
                                  const std::function<bool()>& should_stop);

// The runner's work: the steps of all requested deletions. Returns false if there was nothing to
// delete.
bool delete_organizations(Context& context, const std::function<bool()>& should_stop);

// The rows that were deleted so far; nullopt if the organization is not being deleted.
std::optional<std::int64_t> find_deleted_rows(Context& context, OrgId organization);

}  // namespace muster::service
