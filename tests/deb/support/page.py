#!/usr/bin/python3
"""Loads a path of a server on this machine, as a browser does that accepts gzip.

Usage: page.py URL CA-FILE PATH
Result: one JSON document on standard output: {"status": N, "headers": {names in small letters}, "text": the body}.
"""

import gzip
import json
import ssl
import sys
from urllib.parse import urlsplit

from load import Connection


def main(url, ca_file, path):
    connection = Connection(urlsplit(url).hostname, urlsplit(url).port or 443, ssl.create_default_context(cafile=ca_file))
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    body = answer.read()
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    print(json.dumps({"status": answer.status, "headers": headers, "text": body.decode()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
