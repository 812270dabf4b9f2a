// Creates the deliveries of events, for the runner (docs/webhooks.md "Deliveries"). A change writes
// only its event and a row of the outbox, so its cost does not depend on the number of endpoints.
// The deliveries are inserted, and the row deleted, in one transaction: an event has exactly one
// delivery to each endpoint, however many runners work or are killed. Organizations take turns.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace muster::service {

class FanOut {
  public:
    explicit FanOut(Context& context) : context_(context) {}

    // What a turn has done.
    struct Turn {
        OrgId organization;
        std::vector<EndpointId> ready;  // active endpoints with new deliveries that do not fail
    };
    // Creates at most about a thousand deliveries of the next organization, for its earliest
    // events. Returns nullopt if there was nothing to do, or if other runners do it.
    std::optional<Turn> turn();

  private:
    // The deliveries of an organization that wait, as of a recent count, and those created since.
    struct Backlog {
        std::map<EndpointId, std::int64_t> pending;
        std::int64_t total = 0;
        bool was_full = false;  // by the count
        std::optional<SteadyTime> counted_at;
        SteadyTime count_again_at;
    };
    struct Piece;

    std::optional<OrgId> next_organization();
    void index_endpoints();
    Piece piece_of(OrgId organization);
    Piece fan_out(OrgTransaction& transaction);
    void create_deliveries(OrgTransaction& transaction, Piece& piece);
    const Backlog& backlog_of(OrgTransaction& transaction);
    [[nodiscard]] bool is_full(const Backlog& backlog, const Piece& piece, EndpointId endpoint,
                               std::size_t subscribers) const;
    void note_dropped(OrgTransaction& transaction, Piece& piece);
    void notify(OrgTransaction& transaction, EndpointId endpoint, std::int64_t waiting);

    Context& context_;
    OrgId last_;
    SteadyTime next_index_;
    std::map<OrgId, Backlog> backlogs_;
    std::map<OrgId, SteadyTime> next_notices_;
};

}  // namespace muster::service
