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

// The first of the waiting pages, and the next ones that fit. Requests for the same page share it.
EventPages::Together EventPages::take_together(std::deque<Wanted>& waiting) {
    Together together;
    int rows = 0;
    while (!waiting.empty()) {
        const auto& [flow, page] = waiting.front();
        auto same = std::ranges::find(together.pages, page.member, &service::FirstPage::member);
        if (same == together.pages.end()) {
            rows += page.limit + 1;
            if (!together.pages.empty() && rows > kMostRows) break;
            same = together.pages.insert(same, page);
        } else if (same->limit != page.limit) {
            break;
        }
        together.flows.emplace_back(flow, static_cast<std::size_t>(same - together.pages.begin()));
        waiting.pop_front();
    }
    return together;
}

void EventPages::load(const RequestFlow& flow) {
    const auto member = flow.wanted_member();
    const auto waiting = member ? waiting_.find(member->organization) : waiting_.end();
    if (waiting == waiting_.end() || waiting->second.empty()) return;
    if (waiting->second.front().flow != &flow) return;
    const Together together = take_together(waiting->second);
    if (together.flows.size() > 1) set_log_request_id("");
    const std::size_t bytes_before = service::database_cost().bytes;
    try {
        const auto pages = service::list_first_events(context_, waiting->first, together.pages);
        const std::size_t bytes = service::database_cost().bytes - bytes_before;
        for (const auto& [reader, place] : together.flows) {
            reader->set_events(pages[place], bytes / pages.size());
        }
    } catch (const std::exception& error) {
        if (!service::is_transient_failure(error)) return;
        for (const auto& [reader, place] : together.flows) reader->fail(std::current_exception());
    }
}

}  // namespace muster::api
