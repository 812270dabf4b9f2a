"""muster-import(1) with the key of an organization."""

import json

# Its exit statuses.
ALL_IN, USAGE, SOME_NOT_IN, SERVICE, STOPPED = 0, 1, 2, 3, 4


def people(addresses):
    """A file with two columns and these members."""
    return "Email,First name\n" + "".join(f"{address},Ann\n" for address in addresses)


class Importer:
    """The client with the key of an organization, in its own folder."""

    def __init__(self, org, folder):
        self.org, self.stack, self.folder = org, org.stack, folder
        self.key_file = folder / "org.key"
        self.key_file.write_text(org.key + "\n")

    def write(self, text, name="members.csv"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def arguments(self, path, *options, url=None):
        return [path, "--url", url or self.stack.base_url, "--key-file", self.key_file, "--ca-file", self.stack.ca_file,
                *options]

    def run(self, path, *options, status=None, **more):
        done = self.stack.program("muster-import", *self.arguments(path, *options), cwd=self.folder, **more)
        assert self.org.key not in done.stdout + done.stderr
        if status is not None:
            assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, path, *options, status):
        done = self.run(path, *options, "--json", status=status)
        document = json.loads(done.stdout)
        assert document["exit_code"] == status
        return document
