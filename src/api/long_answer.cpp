#include "api/long_answer.hpp"

#include "api/worker_state.hpp"

namespace muster::api {
namespace {

process::ConcurrencyLimit::Permit sending_permit(const Call& call) {
    auto permit = call.worker.try_send_to(call.org());
    if (permit) return std::move(*permit);
    throw Error(ErrorCode::RateLimited)
        .retry_after(1)
        .detail("reason",
                "the organization already gets a report or an export, or too many others do; "
                "repeat the request after Retry-After");
}

// The folder of temporary files may be full.
template <class Write>
void write_or_refuse(const Write& write) {
    try {
        write();
    } catch (const TemporaryFileError& error) {
        throw Error(ErrorCode::ServiceUnavailable).retry_after(10).internal(error.what());
    }
}

}  // namespace

LongAnswer::LongAnswer(const Call& call)
    : permit_(std::make_shared<process::ConcurrencyLimit::Permit>(sending_permit(call))) {}

std::function<void(std::string_view)> LongAnswer::sink() {
    return [this](std::string_view piece) { write_or_refuse([&] { text_->append(piece); }); };
}

void LongAnswer::add_header(std::string_view name, std::string value) {
    headers_.emplace_back(name, std::move(value));
}

Stream LongAnswer::as_file(const std::string& name) && {
    add_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
    write_or_refuse([&] { text_->finish(); });
    Stream stream;
    stream.length = text_->size();
    stream.headers = std::move(headers_);
    stream.write = [text = std::move(text_),
                    permit = std::move(permit_)](const http::Sink& sink) mutable {
        text->read(sink);
        // Before the client can see the end of the text and send the next request.
        text.reset();
        permit.reset();
    };
    return stream;
}

}  // namespace muster::api
