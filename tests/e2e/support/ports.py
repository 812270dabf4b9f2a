"""Unused ports, for services that a test starts and for addresses at which no program listens."""

import os
import random
import socket

# Below the ports that the kernel uses for outgoing connections (tests/sandbox/services.sh). Each of up to 8 test processes has
# its own ports, and returns none twice.
_process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = range(20_000 + _process % 8, 32_000, 8)
_candidates = iter(random.sample(_ports, len(_ports)))


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port():
    return next(filter(_is_free, _candidates))
