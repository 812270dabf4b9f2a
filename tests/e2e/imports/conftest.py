"""The client of the import tests."""

import pytest
from support.importer import Importer


@pytest.fixture
def importer(org, tmp_path):
    return Importer(org, tmp_path)
