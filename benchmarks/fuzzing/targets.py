"""The table of targets. A new parser of foreign bytes gets a row here, and its corpus by `--minimise`."""

from __future__ import annotations

from functools import partial

import click
import msgspec

from benchmarks.fuzzing import connections, files, processes, seeds, texts
from benchmarks.fuzzing.connections import CARTESIA, DEEPGRAM, ELEVENLABS, lines, request, sockets
from benchmarks.fuzzing.target import Target
from books.book import BookError
from shm.frames import BrokenChannel
from shm.ring import TornBlock
from supervisor.settings.profile import Unusable
from text.english.dictionary_file import UnknownLayout
from text.errors import TextError
from text.markup.marked import MarkupKind
from text.words.language import UnknownLanguage
from text.words.voice_spec import VoiceError
from worker.models.sources import BadManifest

LONG = 1 << 16

# fmt: off
TARGETS = (
    Target("ssml", partial(texts.markup, MarkupKind.SSML), lambda: seeds.SSML, (TextError,), stretched=LONG),
    Target("tags", partial(texts.markup, MarkupKind.TAGS), lambda: seeds.TAGS, (TextError,), stretched=LONG),
    Target("basic-tags", partial(texts.markup, MarkupKind.BASIC), lambda: seeds.TAGS, (TextError,), stretched=LONG),
    Target("normalization", texts.normalization, lambda: [b"\0" + seeds.MARKDOWN[0]], stretched=LONG // 4,
           longest=600, seconds_per_byte=150e-6),
    Target("growing-text", texts.growing, lambda: [b"\0One. Two\0 three? Dr.\0 X\n\n```\na\0\n```\n"], longest=600),
    Target("lexicon", texts.lexicon, lambda: seeds.LEXICON, stretched=LONG),
    Target("names", texts.names, lambda: seeds.NAMES, (VoiceError, UnknownLanguage), stretched=LONG),
    Target("markdown", files.book("b.md"), lambda: seeds.MARKDOWN, (BookError,), stretched=LONG,
           seconds_per_byte=150e-6),
    Target("html", files.book("b.html"), lambda: seeds.HTML, (BookError,), stretched=LONG),
    Target("plain-text", files.book("b.txt"), lambda: seeds.PLAIN, (BookError,), stretched=LONG),
    Target("archive", files.book("b.epub"), files.archives, (BookError,)),
    Target("epub", files.epub, lambda: [seeds.EPUB], (BookError,)),
    Target("pdf", files.book("b.pdf"), lambda: [seeds.PDF], (BookError,)),
    Target("cast", files.cast, lambda: seeds.CAST, (BookError,), stretched=LONG),
    Target("config", files.config, lambda: seeds.CONFIG, (click.ClickException,)),
    Target("http", connections.http, connections.requests("/health", "/v1/audio/speech?input=a&voice=af_heart")),
    Target("openai", request("POST", "/v1/audio/speech"), lambda: [lines(seeds.BODY)], words=seeds.JSON),
    Target("kokoro-fastapi", connections.several, connections.bodies, words=seeds.JSON),
    Target("elevenlabs", request("POST", "/v1/text-to-speech/af_heart/with-timestamps"), lambda: [lines(seeds.LINES)],
           words=seeds.JSON),
    Target("cartesia", request("POST", "/tts/bytes"), lambda: [lines(seeds.CARTESIA)], words=seeds.JSON),
    Target("deepgram", request("POST", "/v1/speak"), lambda: [lines({"text": "Hello."})], words=seeds.JSON),
    Target("google", request("POST", "/v1/text:synthesize"), lambda: [lines(seeds.GOOGLE)], words=seeds.JSON),
    Target("azure", request("POST", "/cognitiveservices/v1"), lambda: seeds.SSML),
    Target("jobs", connections.upload, connections.uploads),
    Target("elevenlabs-socket", sockets(ELEVENLABS), connections.elevenlabs_messages, words=seeds.JSON),
    Target("cartesia-socket", sockets(CARTESIA), lambda: [
        lines({**seeds.CARTESIA, "context_id": "a", "continue": True}, {"context_id": "a", "cancel": True}),
        lines({**seeds.CARTESIA, "context_id": "b", "add_timestamps": True, "flush": True}),
    ], words=seeds.JSON),
    Target("deepgram-socket", sockets(DEEPGRAM), lambda: [
        lines({"type": "Speak", "text": "Hello."}, {"type": "Flush"}, {"type": "Clear"}, {"type": "Close"}),
    ], words=seeds.JSON),
    Target("wyoming", connections.wyoming, connections.wyoming_events, words=seeds.JSON),
    Target("speech-dispatcher", processes.speech_dispatcher, lambda: [processes.SPEECHD]),
    Target("speechd-config", files.speechd_config, lambda: [seeds.MODULE]),
    Target("cached-segment", files.cached_segment, files.cached, (ValueError,)),
    Target("cache-folder", files.cache_folder, lambda: [b"100:abc", b"0:x", b"5000:\0\0\0\1"], (OSError,)),
    Target("verdict", files.verdict_file, lambda: [files.encoded_verdict()]),
    Target("tuning-profile", files.tuning_profile, lambda: [msgspec.json.encode(files.PROFILE)], (Unusable,)),
    Target("drift", files.drift, lambda: [b'{"kokoro":0.25}']),
    Target("checksums", files.checksum_file, lambda: [b'{"/a":{"size":1,"modified_ns":2,"inode":3,"sha256":"0"}}']),
    Target("manifest", files.manifest, files.manifests, (BadManifest,)),
    Target("origin", files.origin, lambda: [b'{"origin":"a","size":0,"modified_ns":1}']),
    Target("stages", files.stages, lambda: [files.encoded_manifest()]),
    Target("node-profile", files.node_profile, lambda: [b'[{"cat":"Node","name":"a","args":{"provider":"CPU"}}]'],
           (msgspec.DecodeError,)),
    Target("job", files.job, files.jobs),
    Target("passage", files.passage, lambda: [files.spoken()]),
    Target("dictionary", files.dictionary, lambda: [seeds.DICTIONARY], (UnknownLayout, ValueError), stretched=LONG),
    Target("answers", files.answers, files.replies, (ValueError,)),
    Target("frames", processes.frames, processes.framed_messages, (BrokenChannel,)),
    Target("messages", processes.messages, processes.each_message),
    Target("control", processes.control, processes.control_messages),
    Target("handover", processes.handover, processes.records),
    Target("commits", processes.commits, processes.commit_messages, (TornBlock,)),
    Target("orders", processes.orders, processes.order_messages, (ValueError,)),
    Target("board", processes.board, lambda: [bytes([1]) + b"d" * 16 + bytes([6]) + b"e" * 16]),
)
# fmt: on
"""All targets. The formatter is off where a row would become a column."""

BY_NAME = {target.name: target for target in TARGETS}
