#include "api/long_answer.hpp"

#include "api/worker_state.hpp"

namespace muster::api {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 20U;

process::ConcurrencyLimit::Permit sending_permit(const Call& call) {
    auto permit = call.worker.try_send_to(call.org());
    if (permit) return std::move(*permit);
    throw Error(ErrorCode::RateLimited)
        .retry_after(1)
        .detail("reason",
                "the organization already gets a report or an export, or too many others do; "
                "repeat the request after Retry-After");
}

std::size_t total_size(const std::vector<std::string>& parts) {
    std::size_t bytes = 0;
    for (const std::string& part : parts) bytes += part.size();
    return bytes;
}

}  // namespace

LongAnswer::LongAnswer(const Call& call)
    : permit_(std::make_shared<process::ConcurrencyLimit::Permit>(sending_permit(call))) {}

std::function<void(std::string_view)> LongAnswer::sink() {
    return [this](std::string_view piece) {
        while (!piece.empty()) {
            if (parts_.empty() || parts_.back().size() == kPartBytes) {
                parts_.emplace_back().reserve(kPartBytes);
            }
            const auto some = piece.substr(0, kPartBytes - parts_.back().size());
            parts_.back() += some;
            piece.remove_prefix(some.size());
        }
    };
}

void LongAnswer::add_header(std::string_view name, std::string value) {
    headers_.emplace_back(name, std::move(value));
}

Stream LongAnswer::as_file(const std::string& name) && {
    add_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
    Stream stream;
    stream.length = total_size(parts_);
    stream.headers = std::move(headers_);
    auto parts = std::make_shared<std::vector<std::string>>(std::move(parts_));
    stream.write = [parts, permit = std::move(permit_)](const http::Sink& sink) mutable {
        for (const std::string& part : *parts) {
            if (!sink(part)) break;
        }
        // Before the client can see the end of the text and send the next request.
        permit.reset();
    };
    return stream;
}

}  // namespace muster::api
