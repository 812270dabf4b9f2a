// How large the last replies to each organization were: the best guess of what its next requests
// read. A member can have hundreds of KiB, and a request does not show it
// (docs/decisions/http.md "A request costs its organization, not the others").
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace muster::api {

// For one worker, and one thread.
class ReplySizes {
  public:
    // More organizations than this are forgotten together.
    static constexpr std::size_t kMost = 4096;

    void note(const std::string& organization, std::size_t bytes);
    // The largest reply, which counts an eighth less with each reply after it; 0 if there was none.
    std::size_t of(const std::string& organization) const;

  private:
    std::map<std::string, std::size_t> sizes_;
};

}  // namespace muster::api
