"""Requests written byte by byte over TLS, for requests that no HTTP library would send."""

import re
import socket
import ssl


class RawReply:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if lines[0] else 0
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:]]

    def values(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]


def connect(stack, source=None, context=None):
    """A TLS connection to the stack's nginx; source: a source address on this machine."""
    if context is None:
        context = ssl.create_default_context(cafile=stack.ca_file)
    plain = socket.create_connection(
        ("127.0.0.1", stack.port), timeout=20, source_address=(source, 0) if source else None
    )
    return context.wrap_socket(plain, server_hostname="127.0.0.1")


def is_complete(data):
    """Whether the reply is complete according to its Content-Length."""
    head, end, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
    return bool(end and length) and len(body) >= int(length.group(1))


def read_reply(connection):
    """One reply: by its length, or else everything until the peer closes."""
    data = b""
    while not is_complete(data):
        try:
            piece = connection.recv(65536)
        except (ConnectionResetError, ssl.SSLEOFError):
            break
        if not piece:
            break
        data += piece
    return RawReply(data)


def exchange(stack, request, source=None):
    """Sends the bytes on a new connection; returns the reply. The request should ask to close."""
    with connect(stack, source) as connection:
        try:
            connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            pass  # nginx refused the beginning, and closed the connection after its reply
        return read_reply(connection)


def request_bytes(method, target, headers=(), body=b"", close=True):
    """The bytes of a request; headers are (name, value) pairs."""
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if close:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
