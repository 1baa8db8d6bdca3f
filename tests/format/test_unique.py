"""Distinct numbers: as NumPy finds them."""

import numpy as np
import pytest

from paimon_nb.format.types.arrow_builders import sorted_unique, unique_inverse


@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [5, -1, 5, 0, -1, 7], list(range(9, 0, -1))])
def test_as_numpy_finds_them(values):
    array = np.array(values, np.int64)
    firsts, locations = unique_inverse(array)
    found = np.unique(array, return_index=True, return_inverse=True)
    assert (sorted_unique(array).tolist(), firsts.tolist(), locations.tolist()) == tuple(f.tolist() for f in found)
