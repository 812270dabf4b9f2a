// Long answers: a page of a report or of an export, of up to 32 MiB. The text is complete before
// its first byte is sent, so its length is known, a failure is an error reply, and nginx takes it
// as fast as the worker writes it. Its first 4 MiB are in memory, the rest in a temporary file.
#pragma once

#include "api/answers.hpp"
#include "base/spooled_text.hpp"
#include "process/concurrency_limit.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

class LongAnswer {
  public:
    // Throws RATE_LIMITED if the organization already gets a long answer, or if too many workers
    // send one.
    explicit LongAnswer(const Call& call);

    // Appends pieces of the text. The function throws SERVICE_UNAVAILABLE if the file cannot be
    // written.
    std::function<void(std::string_view piece)> sink();
    void add_header(std::string_view name, std::string value);
    // The reply: a file to download. Throws like the function of sink().
    Stream as_file(const std::string& name) &&;

  private:
    static constexpr std::size_t kMostInMemory = std::size_t{4} << 20U;

    std::shared_ptr<SpooledText> text_ = std::make_shared<SpooledText>(kMostInMemory);
    std::vector<http::Header> headers_;
    std::shared_ptr<process::ConcurrencyLimit::Permit> permit_;
};

}  // namespace muster::api
