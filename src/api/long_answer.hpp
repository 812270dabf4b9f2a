// Long answers: a page of a report or of an export, of up to 64 MiB. The text is complete before
// its first byte is sent, so its length is known, a failure is an error reply, and nginx takes it
// as fast as the worker writes it.
#pragma once

#include "api/answers.hpp"
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

    // Appends pieces of the text.
    std::function<void(std::string_view piece)> sink();
    void add_header(std::string_view name, std::string value);
    // The reply: a file to download.
    Stream as_file(const std::string& name) &&;

  private:
    // The text is kept in parts, because a string would copy it each time it grows.
    std::vector<std::string> parts_;
    std::vector<http::Header> headers_;
    std::shared_ptr<process::ConcurrencyLimit::Permit> permit_;
};

}  // namespace muster::api
