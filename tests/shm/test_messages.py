"""Messages in bytes: they come back as they were, the commits fit their record, and nonsense is refused."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shm.book_jobs import Hours
from shm.decoding import json_decoder, msgpack_decoder
from shm.engine_info import Priority
from shm.frames import HEADER_BYTES
from shm.messages import (
    MAX_COMMIT_BYTES,
    Began,
    BlockTimes,
    BooksIdle,
    BooksNews,
    BootFailure,
    ChildProgress,
    ChildReady,
    Cleared,
    Commit,
    CommitMessage,
    Connect,
    ControlMessage,
    Disconnect,
    Distrust,
    Done,
    Drain,
    Failed,
    Forget,
    Fork,
    Forked,
    Heartbeat,
    Idle,
    Load,
    Loading,
    Marks,
    OrderMessage,
    Placed,
    PlayerLink,
    PlayerWanted,
    ProviderFailure,
    Quit,
    Recycle,
    Release,
    SegmentOrder,
    SharedMemory,
    StandBy,
    Started,
    Suspects,
    WorkersNeeded,
    clipped,
    decode_commit,
    decode_control,
    decode_order,
    encode,
)
from shm.situation import Situation, TuningState
from shm.timing import MAX_MARKS, pack_marks, unpack_marks
from tests.engine_infos import kokoro
from tests.test_architecture import FOLDERS, ROOT

MAX_PLACE = (1 << 16) - 1
MAX_SAMPLE = (1 << 32) - 1
LARGEST = (1 << 64) - 1
"""MessagePack's largest integer, and its longest: more than any counter here can reach."""

ENGINE = kokoro("af_heart", "zf_xiaobei", model_sha256="7d5d", vocabulary="əɹɛ ˈ", concurrency=2)
ORDER = SegmentOrder(
    generation=3,
    stream=1,
    segment=2,
    ring=0,
    script="həlˈoʊ",
    language="en-us",
    voice=(("af_heart", 0.75), ("am_adam", 0.25)),
    speed=1.25,
    seed=LARGEST,
    from_sample=24_000,
    first_deadline=12345.678,
)
ORDERS: list[OrderMessage] = [ORDER, Release(1, LARGEST), Forget(7)]
COMMITS: list[CommitMessage] = [
    Began(3, 1, 2),
    Marks(3, 1, 2, pack_marks([(0, 600), (17, 24_000), (MAX_PLACE, MAX_SAMPLE)])),
    Commit(3, 1, 2, 0, 9, 4800, 0xFFFFFFFF, BlockTimes(1.5, 2.5, 3.5, 4.5, 5.5, 6.5)),
    Done(3, 1, 2, 4800, 0.125),
    Failed(3, 1, 2, "x"),
    Quit(3),
]
CONTROLS: list[ControlMessage] = [
    Load(("CoreMLExecutionProvider",)),
    ProviderFailure("CUDAExecutionProvider", "no device"),
    Recycle("1.5 GB resident"),
    BooksNews("http://127.0.0.1:8880", "key", wanted=True, number=3),
    BooksIdle(3),
    WorkersNeeded(needed=True),
    Fork(),
    Forked(4711),
    PlayerWanted(),
    PlayerLink(),
    Loading("CoreMLExecutionProvider"),
    Placed(Priority(10, (0, 3))),
    ChildProgress(),
    SharedMemory("texts"),
    StandBy(english=True),
    Suspects((b"0" * 16,), {b"1" * 16: 12.5}),
    Cleared(b"0" * 16),
    ChildReady(ENGINE, 1.5),
    BootFailure("engine", "no such file: give --model a path that exists"),
    Connect(3, 16, 720_000, ENGINE),
    Connect(3, 16, 720_000),
    Disconnect(3, draining=True),
    Distrust(3, "CRC"),
    Idle(3),
    Started(),
    Heartbeat(),
    Situation("starting", "loading", {"front": 0, "worker": 2}),
    Situation("running", "", {}, tuning=TuningState(created=1.5, chosen={"threads": "1"}, verdict="1.1 times better")),
    Drain(),
]
LARGEST_VALUES = {
    bytes: pack_marks([(MAX_PLACE, MAX_SAMPLE)] * MAX_MARKS),
    int: LARGEST,
    float: 1.7976931348623157e308,
    str: clipped("ə" * 100_000),
    BlockTimes: BlockTimes(*[1.7976931348623157e308] * 6),
}
DECODERS: list[Callable[[bytes], object]] = [decode_order, decode_commit, decode_control]


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        *((decode_order, order) for order in ORDERS),
        *((decode_commit, commit) for commit in COMMITS),
        *((decode_control, control) for control in CONTROLS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_comes_back_as_it_was(decode: Callable[[bytes], object], message: object) -> None:
    assert decode(encode(message)) == message


def test_no_message_is_missing_here() -> None:
    assert set(get_args(OrderMessage)) == set(map(type, ORDERS))
    assert set(get_args(CommitMessage)) == set(map(type, COMMITS))
    assert set(get_args(ControlMessage)) == set(map(type, CONTROLS))


@pytest.mark.parametrize("kind", get_args(CommitMessage))
def test_every_commit_message_fits_its_record_at_the_extremes(kind: Any) -> None:
    """Every record has at most `MAX_COMMIT_BYTES` with the frame's header: one write puts it into the pipe whole."""
    message = kind(*(LARGEST_VALUES[hint] for hint in get_type_hints(kind).values()))
    assert len(encode(message)) + HEADER_BYTES <= MAX_COMMIT_BYTES
    assert decode_commit(encode(message)) == message


@given(reason=st.text(st.characters(exclude_categories=()), max_size=500), numbers=st.integers(0, LARGEST))
def test_any_reason_can_be_clipped_and_sent(reason: str, numbers: int) -> None:
    """Lone surrogates too, which a file name or a careless library brings along and UTF-8 has no bytes for."""
    message = Failed(numbers, numbers, numbers, clipped(reason))
    payload = encode(message)
    assert len(payload) + HEADER_BYTES <= MAX_COMMIT_BYTES
    assert decode_commit(payload) == message


def test_marks_come_back_as_they_were_and_half_a_mark_is_refused() -> None:
    marks = [(0, 0), (3, 4800), (MAX_PLACE, MAX_SAMPLE)]
    packed = pack_marks(marks)
    assert unpack_marks(packed) == marks
    with pytest.raises(ValueError, match="no marks"):
        unpack_marks(packed[:-1])


def test_a_short_reason_is_not_clipped_and_a_long_one_keeps_its_beginning() -> None:
    assert clipped("the engine gave nothing for 'naïve'") == "the engine gave nothing for 'naïve'"
    assert clipped("ə" * 300) == "ə" * 200
    assert clipped("x" + "ə" * 300) == "x" + "ə" * 199


@given(garbage=st.binary(max_size=64))
def test_garbage_is_a_msgspec_error_and_never_a_message(garbage: bytes) -> None:
    for decode in DECODERS:
        with pytest.raises(msgspec.MsgspecError):
            decode(garbage)


@given(message=st.sampled_from([*ORDERS, *COMMITS, *CONTROLS]), data=st.data())
def test_a_damaged_message_is_refused_or_is_still_a_message(message: object, data: st.DataObject) -> None:
    """Some bytes overwritten: no other kind of error comes out, whatever they hit."""
    payload = bytearray(encode(message))
    at = data.draw(st.integers(0, len(payload) - 1))
    payload[at : at + 4] = data.draw(st.binary(min_size=1, max_size=4))
    for decode in DECODERS:
        try:
            assert isinstance(decode(bytes(payload)), msgspec.Struct)
        except msgspec.MsgspecError:
            pass


@pytest.mark.parametrize("message", [*ORDERS, *COMMITS, *CONTROLS], ids=lambda message: type(message).__name__)
def test_a_message_cut_short_or_with_something_after_it_is_refused(message: object) -> None:
    payload = encode(message)
    for wrong in [*(payload[:length] for length in range(len(payload))), payload + b"\x00"]:
        for decode in DECODERS:
            with pytest.raises(msgspec.MsgspecError):
                decode(wrong)


@pytest.mark.parametrize(
    ("decode", "strangers"),
    [
        (decode_order, [*COMMITS, *CONTROLS]),
        (decode_commit, [*ORDERS, *CONTROLS]),
        (decode_control, [*ORDERS, *COMMITS]),
    ],
    ids=["orders", "commits", "control"],
)
def test_a_message_of_another_conversation_is_refused(
    decode: Callable[[bytes], object], strangers: list[object]
) -> None:
    for message in strangers:
        with pytest.raises(msgspec.ValidationError, match=r"\$\.type"):
            decode(encode(message))


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "commit", "generation": 1},
        {"type": "commit", **dict.fromkeys(Commit.__struct_fields__, "1")},
        {"type": "commit", **dict.fromkeys(Commit.__struct_fields__, 1.5)},
        {"type": "commit", **dict.fromkeys(Commit.__struct_fields__)},
        {"type": "commits", **dict.fromkeys(Commit.__struct_fields__, 1)},
        {"type": 1},
        {},
        [],
        None,
    ],
)
def test_a_commit_with_a_field_missing_or_of_another_type_is_refused(wrong: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_commit(msgspec.msgpack.encode(wrong))


def test_text_that_is_not_utf8_is_refused_like_any_other_nonsense() -> None:
    payload = encode(Failed(1, 2, 3, "abc")).replace(b"abc", b"a\xff\xfe")
    with pytest.raises(msgspec.MsgspecError, match="utf-8"):
        decode_commit(payload)


def test_nesting_without_end_is_refused_like_any_other_nonsense() -> None:
    with pytest.raises(msgspec.MsgspecError, match=r"recursion|Stack overflow"):
        decode_commit(b"\x81\xa1x" + b"\x91" * 3_000_000 + b"\x90")


BY_HAND = {
    "frontend/dialects/socket.py": "answers its client with what is wrong",
    "frontend/dialects/wyoming/events.py": "the same",
    "frontend/serving/json_body.py": "the same",
    "frontend/serving/no_effect.py": "reads what was decoded before",
    "shm/decoding.py": "wraps",
    "shm/messages.py": "wraps a union, which is no type",
    "shm/playing.py": "the same",
    "shm/espeak/helper.py": "its orders come from its parent's memory, and it may die of them",
    "text/espeak/espeak.py": "its answers come from a helper process that is replaced when it fails",
    "worker/tuning/messages.py": "settings come from the parent that started it",
}
"""Files that decode without `shm.decoding`, and why they may."""


class Stored(msgspec.Struct):
    name: str
    inner: list[object] = []


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"name": 1}', b'{"name": "\xff"}', b"\xff", b'{"name": "", "inner": ' + b"[" * 100_000],
    ids=["empty", "cut", "array", "number", "no UTF-8 inside", "no UTF-8", "nested"],
)
def test_wrong_json_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        json_decoder(Stored)(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x81", b"\x90", b"\x81\xa4name\x01", b"\x81\xa4name\xa1\xff", b"\x81\xa5inner" + b"\x91" * 100_000],
    ids=["empty", "cut", "array", "number", "no UTF-8 inside", "nested"],
)
def test_wrong_msgpack_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgpack_decoder(Stored)(data)


def test_what_is_right_is_decoded() -> None:
    assert json_decoder(Stored)(b'{"name": "a"}') == Stored("a") == msgpack_decoder(Stored)(b"\x81\xa4name\xa1a")


def test_every_file_and_message_is_decoded_so() -> None:
    decodes = re.compile(r"msgspec\.(json|msgpack)\.(decode|Decoder)\(")
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    found = {str(file.relative_to(ROOT)) for file in files if decodes.search(file.read_text())}
    assert found == BY_HAND.keys()


@pytest.mark.parametrize(
    ("hours", "now", "closed"),
    [
        ("01:00-07:00", "03:00", 0),
        ("01:00-07:00", "00:00", 3600),
        ("1:00-7:00", "07:00", 18 * 3600),
        ("23:00-07:00", "23:30", 0),
        ("23:00-07:00", "06:00", 0),
        ("23:00-07:00", "22:00", 3600),
        ("22:00-24:00", "23:30", 0),
        ("22:00-24:00", "00:00", 22 * 3600),
        ("00:00-24:00", "12:00", 0),
    ],
)
def test_hours_may_pass_midnight(hours: str, now: str, closed: float) -> None:
    assert Hours(hours).closed(datetime.fromisoformat(f"2026-03-01T{now}:00")) == closed


@pytest.mark.parametrize("hours", ["", "1-7", "25:00-26:00", "01:00"])
def test_other_hours_are_an_error(hours: str) -> None:
    with pytest.raises(ValueError, match="01:00-07:00"):
        Hours(hours)
