"""Fixtures of the tests of split models: nothing of the user's caches is read or written."""

import pytest

from tests.split_model import make_split_model
from tests.worker.split.splitting import Parts, cut_before
from worker.models import sources


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """The module's folder: its checksums, and engines that share their stages."""
    made = tmp_path_factory.mktemp("split")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "default_cache", lambda: made / "checksums.json")
        yield made


@pytest.fixture(scope="module")
def parts(tmp_path_factory, folder):
    """Stages that all tests of a module run; nobody changes their files."""
    return Parts(tmp_path_factory.mktemp("parts"))


@pytest.fixture
def model(tmp_path):
    """The file of a miniature model that can be split."""
    return make_split_model(tmp_path / "small.onnx")


@pytest.fixture
def cut(model):
    """The model's stages are those that an earlier test cut."""
    with cut_before(model):
        yield
