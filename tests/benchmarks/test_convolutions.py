"""The kernels whose speeds are compared."""

import numpy as np
import pytest

from benchmarks import convolutions


@pytest.mark.parametrize("kernel", convolutions._KERNELS, ids=str)
def test_each_runs_and_gives_numbers(kernel):
    session = convolutions.session(convolutions.convolution(*kernel), 1)
    kind = np.float32 if kernel[1] == "F32" else convolutions._TYPES[kernel[1]][0]
    [made] = session.run(None, {"x": np.ones((1, convolutions.CHANNELS, convolutions.LENGTH), kind)})
    assert made.shape == (1, convolutions.CHANNELS, convolutions.LENGTH)
    assert len(np.unique(made)) > 1


def test_each_has_a_speed():
    assert all(speed > 0 for speed in convolutions.speeds(1, 1))
