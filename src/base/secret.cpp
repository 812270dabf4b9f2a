#include "base/secret.hpp"

#include <cstring>

namespace muster {

Secret::~Secret() {
    explicit_bzero(value_.data(), value_.size());
}

}  // namespace muster
