"""A partner's client with low overhead: keep-alive connections, bodies prepared in advance.

It shares the cores of the machine with the servers, so its own processor time is missing there. Sending a body is one
call into OpenSSL, which releases Python's lock, and two threads stage in parallel.
"""

import http.client
import json
import queue
import ssl
import threading
import time
import uuid
from datetime import datetime

from lib.figure import BrokenMeasurement

POLL_PAUSE = 0.1
MOVING = {"staging", "validating", "committing"}
MAPPING = {"columns": [
    *({"sourceColumn": name, "target": "core_field", "fieldKey": name}
      for name in ("email", "external_id", "first_name", "last_name", "country", "dob")),
    *({"sourceColumn": name, "target": "attribute", "attributeKey": name}
      for name in ("phone", "shirt_size", "favourite_team")),
]}


class Client:
    """One connection of one organization; not thread-safe."""

    def __init__(self, stack, organization=0):
        self.port = stack.port
        self.headers = {"Authorization": "Bearer " + stack.organizations[organization]["api_key"]}
        self.context = ssl.create_default_context(cafile=stack.ca_file)
        self.connection = None
        self.last_headers = {}
        self.connect()

    def connect(self):
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120,
                                                      context=self.context)
        self.connection.connect()

    def call(self, method, path, body=None, expect=200, **headers):
        """The bytes of the reply; any other status than `expect` ends the measurement."""
        all_headers = dict(self.headers, **headers)
        if body is not None:
            all_headers["Content-Type"] = "application/json"
        self.connection.request(method, path, body, all_headers)
        response = self.connection.getresponse()
        answer = response.read()
        self.last_headers = response.headers
        if response.status != expect:
            raise BrokenMeasurement(f"{method} {path}: {response.status} {answer[:300]!r}")
        return answer

    def post(self, path, document=None, expect=200):
        body = None if document is None else json.dumps(document).encode()
        return json.loads(self.call("POST", path, body, expect, **{"Idempotency-Key": str(uuid.uuid4())}))

    def get(self, path):
        return json.loads(self.call("GET", path))

    def close(self):
        self.connection.close()


def milliseconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


class Job:
    """An import over the public API, with the calls of muster-import."""

    def __init__(self, client, total):
        self.client = client
        document = {"file_name": "bench.csv", "declared_total": total, "mapping": MAPPING}
        self.id = client.post("/v1/imports", document, expect=201)["id"]
        self.path = "/v1/imports/" + self.id

    def read(self):
        return self.client.get(self.path)

    def stage(self, bodies, clients):
        """Sends all bodies, as many in parallel as there are clients."""
        waiting = queue.SimpleQueue()
        for body in bodies:
            waiting.put(body)
        faults = []

        def work(client):
            try:
                while not faults:
                    client.call("POST", self.path + "/rows", waiting.get_nowait())
            except queue.Empty:
                pass
            except Exception as fault:  # reported by the thread that waits
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]

    def move(self, verb):
        """Requests `verb`; returns the time of the request in milliseconds since 1970, on the clock shared with the
        server."""
        asked = time.time() * 1000
        self.client.post(f"{self.path}/{verb}", expect=202)
        return asked

    def wait(self, state, pause=POLL_PAUSE, most=600):
        """Polls until the job is in `state`; returns its record."""
        end = time.monotonic() + most
        while time.monotonic() < end:
            job = self.read()
            if job["state"] == state:
                return job
            if job["state"] not in MOVING:
                raise BrokenMeasurement(f"import {self.id} is {job['state']}: {job['failure']}")
            time.sleep(pause)
        raise BrokenMeasurement(f"import {self.id} is not {state} after {most} s")
