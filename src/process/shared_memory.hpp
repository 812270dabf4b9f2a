// Memory that all processes of a pool share. Map it before the fork.
#pragma once

#include <cstddef>

namespace muster::process {

// Returns zero-filled memory, aligned for every type. Throws std::system_error.
[[nodiscard]] void* map_shared(std::size_t bytes);
void unmap_shared(void* memory, std::size_t bytes);

}  // namespace muster::process
