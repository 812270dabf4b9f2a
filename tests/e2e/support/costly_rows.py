"""Rows of one organization near the limits of docs/api/limits.md, written with SQL: as the API stores them, but faster."""

import secrets
import time
import uuid
from contextlib import closing

from .stack import numbers

DAY = 86_400
WIDE = "'\U0001f3c6'"  # a character of four bytes
ATTEMPTS, EXCERPT = 40, 1024  # of a delivery in a reply; bytes of an attempt
# The tables with sealed values, which a rotation of the key would report, and with rows that wait for the runner.
EMPTIED = ("webhook_events", "webhook_endpoint_hours", "webhook_endpoints", "module_credentials")


def hexadecimal(record_id):
    """SQL of the bytes of an id."""
    return f"0x{uuid.UUID(record_id).hex}"


class Rows:
    """Inserts rows with the numbers 1 … count. In a value, `seq` is the number, {org} the organization, {now} the time in
    milliseconds, and {id EXPRESSION} the id of a row."""

    def __init__(self, stack, organization_id):
        self.stack, self.organization_id = stack, organization_id
        self.tables = set()
        self.now = int(time.time() * 1000)
        self.prefix = f"{self.now:012x}7{secrets.token_hex(2)[1:]}8{secrets.token_hex(2)[1:]}"

    def id(self, number):
        return str(uuid.UUID(f"{self.prefix}{number:012x}"))

    def text_of_id(self, expression):
        """SQL of the text of the id of a row."""
        begin = self.id(0)[:-12]
        return f"CONCAT('{begin}', LPAD(LOWER(HEX({expression})), 12, '0'))"

    def insert(self, table, count, _where="TRUE", **values):
        """The texts of `values` are SQL; a pair is SQL with one parameter for its %s."""
        texts = {name: value if isinstance(value, tuple) else (value,) for name, value in values.items()}
        self.tables.add(table)
        sql = ", ".join(self.filled(value[0]) for value in texts.values())
        self.run(f"INSERT INTO {table} ({', '.join(texts)}) SELECT {sql} FROM {numbers(count)} WHERE {_where}",
                 *[parameter for value in texts.values() for parameter in value[1:]])

    def own(self, table, count, **values):
        """Rows of the organization whose id is that of their number, and which are made now."""
        self.insert(table, count, **{"organization_id": "{org}", "id": "{id seq}", "created_at": "{now}"} | values)

    def filled(self, sql):
        sql = sql.replace("{org}", hexadecimal(self.organization_id)).replace("{now}", str(self.now))
        while "{id " in sql:
            before, _, rest = sql.partition("{id ")
            expression, _, after = rest.partition("}")
            sql = f"{before}UNHEX(CONCAT('{self.prefix}', LPAD(LOWER(HEX({expression})), 12, '0'))){after}"
        return sql

    def run(self, statement, *parameters):
        with closing(self.stack.connect()) as connection, connection.cursor() as cursor:
            return cursor.execute(statement, parameters or None)

    def analyze(self):
        """Collects the statistics on the filled tables, as the database does some time after many inserts."""
        self.run(f"ANALYZE TABLE {', '.join(sorted(self.tables))}")

    def remove(self):
        """Deletes what later tests would find."""
        own = f"organization_id = {self.filled('{org}')}"
        for table in EMPTIED:
            self.run(f"DELETE FROM {table} WHERE {own}")
        self.run(f"DELETE members, users FROM members JOIN users ON users.id = members.user_id WHERE {own}")


def wide(characters):
    """SQL of a text with so many characters of four bytes."""
    return f"REPEAT({WIDE}, {characters})"


def json_object(size):
    """The JSON text of an object of about so many bytes."""
    entry = '"k%05d":"vvvvvvvv"'
    return "{" + ",".join(entry % number for number in range(size // (len(entry % 0) + 1))) + "}"
