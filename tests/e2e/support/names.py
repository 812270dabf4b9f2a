"""A DNS server over UDP on the loopback: it knows only the given names."""

import socket
import struct
import threading

NO_ERROR, NO_SUCH_NAME = 0, 3
TYPE_A, CLASS_IN, SECONDS = 1, 1, 5
QUESTION_AT = 12  # after the header


class NameServer:
    """known: {name: IPv4 address}."""

    def __init__(self, **known):
        self.known, self.asked = {}, []
        self.known.update(known)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:{}".format(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, name="name server")
        self._is_ending = False

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_ending = True
        host, port = self.address.split(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", (host, int(port)))
        self._thread.join(10)
        self._socket.close()
        assert not self._thread.is_alive()

    def _serve(self):
        while not self._is_ending:
            query, whence = self._socket.recvfrom(4096)
            if len(query) > QUESTION_AT:
                self._socket.sendto(self._answer(query), whence)

    def _answer(self, query):
        place, labels = QUESTION_AT, []
        while query[place]:
            labels.append(query[place + 1:place + 1 + query[place]].decode().lower())
            place += 1 + query[place]
        kind = struct.unpack(">H", query[place + 1:place + 3])[0]
        question, name = query[QUESTION_AT:place + 5], ".".join(labels)
        self.asked.append(name)
        address = self.known.get(name) if kind == TYPE_A else None
        code = NO_ERROR if name in self.known else NO_SUCH_NAME
        head = query[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, 1 if address else 0, 0, 0)
        if address is None:
            return head + question
        # 0xc00c: the name in the question
        return head + question + struct.pack(">HHHIH", 0xc00c, TYPE_A, CLASS_IN, SECONDS, 4) + socket.inet_aton(address)
