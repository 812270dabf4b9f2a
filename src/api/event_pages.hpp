// Reads the first pages of members' events for several requests of a batch together. Otherwise the
// round trip to the database is a quarter of what a page costs.
#pragma once

#include "api/read_sizes.hpp"
#include "api/request_flow.hpp"
#include "service/context.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace muster::api {

class EventPages {
  public:
    // The rows of one query, unless a single page has more.
    static constexpr int kMostRows = 408;  // eight pages of 50 events and one more each
    // A page of an organization whose last pages had more bytes than this is read alone.
    static constexpr std::size_t kLargePage = std::size_t{64} << 10U;

    // For those of the flows that run last, or for the others. Borrows the flows and their members.
    EventPages(service::Context& context, std::span<RequestFlow> flows, bool is_last,
               const ReadSizes& sizes);

    // Loads the page of the flow, and those of the next flows of its organization, unless the flow
    // needs none. Flows must be passed in their order. If the database is unavailable, the flows
    // fail. After another error each handler reads its page alone, so that a damaged event fails
    // its own request only.
    void load(const RequestFlow& flow);

  private:
    struct Wanted {
        RequestFlow* flow;
        service::FirstPage page;
    };
    // A page for the requests that ask for it.
    struct Shared {
        service::FirstPage page;
        std::vector<RequestFlow*> flows;
    };
    static std::vector<Shared> take_together(std::deque<Wanted>& waiting);
    void read(OrgId organization, std::span<const Shared> together);

    service::Context& context_;
    std::map<OrgId, std::deque<Wanted>> waiting_;
};

}  // namespace muster::api
