// Core dumps of programs that hold the installation's key, sessions and addresses.
#pragma once

namespace muster {

// Forbids core dumps of this process and of its later children, also by a handler such as
// systemd-coredump, which ignores the limit on the size. Users other than root can then no longer
// attach a debugger or read the process's memory.
void disable_core_dumps();

}  // namespace muster
