#include "api/event_pages.hpp"

#include "base/log.hpp"
#include "service/failure.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace muster::api {

EventPages::EventPages(service::Context& context, std::span<RequestFlow> flows, bool is_last,
                       const ReadSizes& sizes)
    : context_(context) {
    for (RequestFlow& flow : flows) {
        if (flow.is_last() != is_last) continue;
        const auto page = flow.wanted_events();
        if (!page || sizes.of(flow.share_subject(), flow.operation()) > kLargePage) continue;
        waiting_[flow.wanted_member()->organization].push_back({&flow, *page});
    }
}

// The first of the waiting pages, and the next ones that one query may read. They are distinct.
std::vector<EventPages::Shared> EventPages::take_together(std::deque<Wanted>& waiting) {
    std::vector<Shared> together;
    int rows = 0;
    while (!waiting.empty()) {
        const auto [flow, page] = waiting.front();
        const auto same = std::ranges::find(
            together, page.member, [](const Shared& shared) { return shared.page.member; });
        if (same == together.end()) {
            rows += page.limit + 1;
            if (!together.empty() && rows > kMostRows) break;
            together.push_back({page, {flow}});
        } else if (same->page.limit == page.limit) {
            same->flows.push_back(flow);
        } else {
            break;
        }
        waiting.pop_front();
    }
    return together;
}

void EventPages::read(OrgId organization, std::span<const Shared> together) {
    std::vector<service::FirstPage> wanted;
    for (const Shared& shared : together) wanted.push_back(shared.page);
    const std::size_t bytes_before = service::database_cost().bytes;
    auto pages = service::list_first_events(context_, organization, wanted);
    const std::size_t bytes = (service::database_cost().bytes - bytes_before) / pages.size();
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const std::span flows = together[i].flows;
        for (RequestFlow* flow : flows.first(flows.size() - 1)) flow->set_events(pages[i], bytes);
        flows.back()->set_events(std::move(pages[i]), bytes);
    }
}

void EventPages::load(const RequestFlow& flow) {
    const auto member = flow.wanted_member();
    const auto waiting = member ? waiting_.find(member->organization) : waiting_.end();
    if (waiting == waiting_.end() || waiting->second.empty()) return;
    if (waiting->second.front().flow != &flow) return;
    const auto together = take_together(waiting->second);
    const bool is_shared = together.size() > 1 || together.front().flows.size() > 1;
    if (is_shared) set_log_request_id("");
    try {
        read(waiting->first, together);
    } catch (const std::exception& error) {
        if (!service::is_transient_failure(error)) return;
        for (const Shared& shared : together) {
            for (RequestFlow* one : shared.flows) one->fail(std::current_exception());
        }
    }
}

}  // namespace muster::api
