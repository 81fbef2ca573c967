"""The defects of mutations.py are still to be had: their passages stand in the sources once."""

from __future__ import annotations

import pytest
from mutations import MUTATIONS, REPOSITORY, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.defect)
def test_its_passage_stands_in_the_sources_once(mutation: Mutation) -> None:
    assert (REPOSITORY / mutation.file).read_text().count(mutation.passage) == 1
    assert mutation.passage != mutation.replaced_by
