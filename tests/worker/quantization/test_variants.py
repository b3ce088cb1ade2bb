"""Which variants of a model lie beside it."""

import logging
import os

import pytest

from tests.split_model import make_split_model
from worker.checksum_cache import cached_sha256_of
from worker.quantization.kinds import Kind
from worker.quantization.metadata import append_properties
from worker.quantization.variants import ORIGINAL, SOURCE, find_variants


def names(variants):
    return [(variant.path.name, variant.name) for variant in variants]


def test_the_model_and_what_was_made_of_it(made):
    made.have(Kind.STATIC_INT8, check=True)
    made.have(Kind.FP16)
    found = find_variants(made.model)
    assert names(found) == [
        ("small.onnx", ORIGINAL),
        ("small.fp16.onnx", "fp16"),
        ("small.static-int8.onnx", "static-int8"),
    ]
    assert found[0].quality is None and found[1].quality is None
    assert found[2].quality.duration_agreement == 1


def test_the_files_of_another_model_are_not_its_variants(made):
    made.have(Kind.FP16)
    other = make_split_model(made.folder / "other.onnx", tokens_name="input_ids")
    assert names(find_variants(other)) == [("other.onnx", ORIGINAL)]


def test_of_a_variant_its_siblings(made):
    variant, other = made.have(Kind.FP16), made.have(Kind.DYNAMIC)
    assert names(find_variants(variant)) == [(variant.name, "fp16"), (other.name, "dynamic")]


def test_what_was_made_of_an_older_file_of_the_same_name_is_none_of_it(made):
    made.have(Kind.FP16)
    make_split_model(made.model, tokens_name="input_ids")
    stat = made.model.stat()
    os.utime(made.model, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))
    assert names(find_variants(made.model)) == [("small.onnx", ORIGINAL)]


def test_a_broken_neighbour_is_passed_over_with_a_word(made, caplog):
    (made.folder / "broken.onnx").write_bytes(b"\xff" * 99)
    with caplog.at_level(logging.WARNING):
        assert names(find_variants(made.model)) == [("small.onnx", ORIGINAL)]
    assert "broken.onnx" in caplog.text


def test_a_hidden_file_is_passed_over(made, caplog):
    (made.folder / "._small.fp16.onnx").write_bytes(made.have(Kind.FP16).read_bytes())
    assert names(find_variants(made.model)) == [("small.onnx", ORIGINAL), ("small.fp16.onnx", "fp16")]


def test_a_file_that_only_says_what_it_was_made_of_is_no_variant(made):
    copy = made.folder / "copy.onnx"
    copy.write_bytes(made.model.read_bytes())
    append_properties(copy, {SOURCE: cached_sha256_of(made.model)})
    assert names(find_variants(made.model)) == [("small.onnx", ORIGINAL)]


def test_a_model_that_is_none_is_an_error(made):
    made.model.write_bytes(b"\xff" * 99)
    with pytest.raises(ValueError, match="no ONNX file"):
        find_variants(made.model)
