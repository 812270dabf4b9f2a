"""What nginx does with connections: streams and heads of HTTP/2, incomplete heads (docs/api/limits.md "Sizes and counts")."""

import socket
import ssl
import struct

from support import wire
from support.edge import Edge


def test_an_http_2_connection_has_32_streams(stack):
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.set_alpn_protocols(["h2"])
    with wire.connect(stack, context=context) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0" + bytes(4))
        frame = connection.recv(9)
        length, kind = int.from_bytes(frame[:3], "big"), frame[3]
        assert kind == 4  # SETTINGS
        pairs = dict(struct.iter_unpack(">HI", connection.recv(length)))
    assert pairs[3] == 32  # SETTINGS_MAX_CONCURRENT_STREAMS


def test_an_http_2_request_with_thousands_of_short_headers_is_431(stack):
    """Each is a byte there, and eight bytes in the FastCGI record, which holds 65,535."""
    fields = b"\x82\x87\x04\x09/v1/users\x01\x01x" + b"\x40\x01a\x00" + b"\xbe" * 10000
    frame = len(fields).to_bytes(3, "big") + b"\x01\x05" + (1).to_bytes(4, "big") + fields
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.set_alpn_protocols(["h2"])
    with wire.connect(stack, context=context) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0" + bytes(4) + frame)
        received = b""
        while b'"status":' not in received:
            received += connection.recv(65536)
    assert b'"status":431' in received


def test_an_incomplete_head_does_not_hold_a_connection_of_port_80(stack):
    change = ("snippets/muster-plain.conf", "client_header_timeout 15s", "client_header_timeout 1s")
    with Edge(stack, "plain-head", [change]) as edge, socket.create_connection(("127.0.0.1", edge.plain_port), 10) as connection:
        connection.sendall(b"GET /v1/users HTTP/1.1\r\nHost: x\r\n")
        assert connection.recv(1) == b""
