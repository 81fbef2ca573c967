"""Names of algorithms as the command line takes them; the library takes the same (core_test.cpp)."""

import pytest

from stretto.algorithms import check_choice
from stretto.errors import StrettoError


@pytest.mark.parametrize(
    "choice",
    [
        *("default", "native", "ring", "ring+2", "ring+1024", "rabenseifner+32M", "ring+1K", "native+4"),
        *("ring@topology", "rabenseifner@ring", "recursive_doubling@topology+4"),
        *("hierarchical(binomial,ring)", "hierarchical(binomial,hierarchical(event_chain,ring))+4"),
    ],
)
def test_what_can_run_is_taken(choice: str) -> None:
    check_choice("allreduce", choice, "--allreduce")


@pytest.mark.parametrize(
    "choice",
    [
        *("ring+", "ring+0", "ring+1", "ring+1025", "ring+0K", "ring+10000K", "ring+4k", "ring+-4", "ring+4+4"),
        *("+4", "rong+4", "arrival_stripes+4", "sorted_linear_tree+4", "default+4"),
        *("ring@", "@ring", "ring@rong", "ring+4@ring", "native@ring", "arrival_stripes@ring"),
        *("hierarchical(ring,ring)", "hierarchical(binomial,ring"),
    ],
)
def test_what_cannot_is_refused_with_the_choices(choice: str) -> None:
    with pytest.raises(StrettoError, match=r"choose from default, native, .*in segments: \w+\+4"):
        check_choice("allreduce", choice, "--allreduce")


def test_a_barrier_has_no_segments() -> None:
    with pytest.raises(StrettoError, match="choose from"):
        check_choice("barrier", "dissemination+4", "STRETTO_BARRIER")
