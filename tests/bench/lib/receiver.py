"""A webhook receiver with low overhead: a separate process that replies 204 and records when each request began.

Used by figures/webhooks.py. A receiver that is `dead` accepts connections and never replies.
"""

import asyncio
import ctypes
import multiprocessing
import socket
import time

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
MOST = 100_000


class Connection(asyncio.Protocol):
    def __init__(self, receiver):
        self.receiver = receiver
        self.transport = None
        self.buffer = b""
        self.began = None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if self.receiver.is_dead:
            return
        if not self.buffer:
            self.began = time.time()
        self.buffer += data
        while (length := self.request_length()) and len(self.buffer) >= length:
            self.buffer = self.buffer[length:]
            self.receiver.note(self.began)
            self.began = time.time()
            self.transport.write(ANSWER)

    def request_length(self):
        """The length of the request at the start of the buffer; 0 if its head is incomplete."""
        head, end, _ = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return len(head) + len(end) + int(value)
        return len(head) + len(end)


class Receiver:
    """A context manager. `moments()`: the times of the first byte of each request, in order, by the wall clock."""

    def __init__(self, is_dead=False):
        self.is_dead = is_dead
        self.count = multiprocessing.Value(ctypes.c_int64, 0)
        self.times = multiprocessing.Array(ctypes.c_double, MOST, lock=False)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.process = multiprocessing.Process(target=self.serve, daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()
        self.listener.close()

    def serve(self):
        async def forever():
            loop = asyncio.get_running_loop()
            server = await loop.create_server(lambda: Connection(self), sock=self.listener)
            await server.serve_forever()
        asyncio.run(forever())

    def note(self, moment):
        self.times[self.count.value % MOST] = moment
        self.count.value += 1

    def moments(self):
        return self.times[:min(self.count.value, MOST)]

    def forget(self):
        self.count.value = 0
