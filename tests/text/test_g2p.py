"""Every word of any text in any language comes out once, in order, and without an error."""

import os
import re
import signal
import subprocess
import sys
import threading
import tracemalloc
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_live.installation import this_installation
from shm.espeak.messages import LANGUAGE_FILES
from text.east_asian import LanguageUnavailable, by_neighbours, missing
from text.espeak import espeak
from text.g2p import G2P, Key, PhonemeCache, size_of
from text.words.segment import PhonemeSource, Word

_g2p = G2P()

LANGUAGES = [language for language in sorted(LANGUAGE_FILES) if language not in ("ja", "cmn") or not missing(language)]
"""Those that can be read here: Japanese and Mandarin need extras."""

_nasty = st.sampled_from(
    [
        *"\x00\x01\x1b\ud800\ufeff\u200d\ufe0f😀½²①①€$£₹%&@#§'’‘\"“”«»()[]{}<>…—–-‐_/\\|~^`*+=.,:;!?。、，！٣०éßﬁﷺЖ你あ안ع",
        "http://",
        "a@b.co",
        "12:30",
        "$5M",
        "1,",
        "0.",
        "McDonald's",
        "n't",
        "U.S.",
        " ",
        "\n",
        "\u3000",
    ]
)
_texts = st.one_of(
    st.text(max_size=60),
    st.lists(_nasty, max_size=25).map("".join),
    st.lists(st.one_of(_nasty, st.sampled_from(["read", "Kubernetes", "hola", "नमस्ते", "7", "1e9"])), max_size=12).map(
        " ".join
    ),
)


@given(text=_texts, language=st.sampled_from(LANGUAGES))
def test_no_word_is_lost_or_doubled_whatever_the_text(text: str, language: str) -> None:
    words = _g2p.words(text, language)
    assert [word.text for word in words] == text.split()
    for word in words:
        assert any(map(str.isalpha, word.phonemes)) or word.source is PhonemeSource.NONE
        assert not re.search(r"\s\s|[\n\t^\u0361❓]|\([a-z]{2,3}(-[a-z]+)?\)", word.phonemes)
    assert _g2p.words(text, language) == words


@pytest.mark.parametrize("language", ["en-us", "es"])
@pytest.mark.parametrize(
    "unit", ["x", "aB", "a-", "a.", "1", "1,", "$1", ".", "'", '"(', "é", "你", "😀", "a'", "a@", "http://a/"]
)
def test_a_word_of_any_length_is_one_word(unit: str, language: str) -> None:
    """It takes seconds at most (the suite's timeout); what goes up in the square would take hours."""
    text = unit * (8_000 // len(unit))
    (before, word, after) = _g2p.words(f"so {text} so", language)
    assert word.text == text
    assert before.phonemes and after.phonemes


@pytest.mark.parametrize(
    ("language", "text", "phonemes"),
    [
        ("es", "Hola, ¿cómo estás? «El email»", ["ˈola,", "kˈomo", "estˈas?", "“el", "emˈIl”"]),
        ("fr-fr", "Les amis sont là.", ["lez", "amˈi", "sˈɔ̃", "lˈa."]),
        ("fr-fr", "c’est le week-end", ["sɛ", "lə", "wˈiːkˈɛnd"]),
        ("it", "25 euro (circa)", ["ventiʧˈinkwe", "ˈɛʊro", "(ʧˈirka)"]),
        ("pt-br", "Bom dia!", ["bˈoŋ", "ʤˈiæ!"]),
        ("hi", "आप कैसे हैं।", ["ˌaːp", "kˈɛːseː", "hɛ̃."]),
        ("es", "3,14", ["tɾˈes komˌa katˈoɾθe"]),
    ],
)
def test_other_languages_are_pronounced_in_misakis_alphabet(language: str, text: str, phonemes: list[str]) -> None:
    words = _g2p.words(text, language)
    assert [word.phonemes for word in words] == phonemes
    assert {word.source for word in words} == {PhonemeSource.ESPEAK}


def test_words_that_run_together_or_come_apart_stay_with_their_neighbours() -> None:
    """Spanish 2026 is several words of espeak-ng's: all of them belong to the number."""
    words = _g2p.words("En 2026 y 1999 vi tres casas", "es")
    alone = {text: _g2p.words(text, "es")[0].phonemes for text in ("2026", "1999")}
    assert words[1].phonemes == alone["2026"]
    assert words[3].phonemes == alone["1999"]
    assert words[6].phonemes == "kˈasas"


@pytest.mark.parametrize(("language", "extra"), [("ja", "ja"), ("cmn", "zh")])
def test_without_its_extra_east_asian_text_is_refused_with_the_command(
    language: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = G2P().words("Hello, dear world!", "en-us")  # English's own modules are there
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert G2P().words("Hello, dear world!", language) == english, "Latin words need no extra"
    with pytest.raises(LanguageUnavailable, match=re.escape(this_installation().add(extra))) as refusal:
        G2P().words("こんにちは、世界。 你好", language)
    assert (refusal.value.status, refusal.value.code) == (400, "language_unavailable")


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("東京は日本の首都です。", "toːkʲoː βa ɲiʔpoɴ no ɕɨto desɨ."),
        ("私はPythonが好きです。", "βataɕi βa pˈIθˌɑn ɡa sɨkʲi desɨ."),
    ],
)
def test_japanese_is_cutlets_and_latin_words_are_english(text: str, phonemes: str) -> None:
    assert G2P().words(text, "ja")[0].phonemes == phonemes


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
def test_mandarin_is_misakis() -> None:
    assert G2P().words("你好，世界。", "cmn")[0].phonemes == "ni↓xau↓, ʂɨ↘ʨje↘."


def test_with_its_extra_mandarin_is_misakis_and_latin_letters_in_it_are_espeaks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A misaki that, like the real one, gives Latin letters and a sign back as they are, and raises on some texts."""

    class ZHG2P:
        py2ipa = staticmethod(str)

        def __call__(self, text: str) -> tuple[str, None]:
            assert "坏" not in text
            return text.replace("你好", "ni↓xau↓").replace("，", ", ") + "^", None

    dictionary = SimpleNamespace(tmp_dir=None)
    fake = ModuleType("misaki.zh")
    vars(fake).update(ZHG2P=ZHG2P, jieba=SimpleNamespace(dt=dictionary, setLogLevel=lambda level: None))
    monkeypatch.setitem(sys.modules, "misaki.zh", fake)
    monkeypatch.setattr("text.east_asian.missing", lambda language: "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / name))
    words = G2P().words("你好，你好 GPT你好 坏 😀", "cmn")
    assert [word.phonemes for word in words[:2]] == ["ni↓xau↓, ni↓xau↓", "ʤˌipˌitˈi ni↓xau↓"]
    assert [word.source for word in words] == [
        PhonemeSource.LEXICON,
        PhonemeSource.LEXICON,
        PhonemeSource.ESPEAK,
        PhonemeSource.NONE,
    ]
    assert dictionary.tmp_dir == str(tmp_path / "kokoro-live")
    assert (tmp_path / "kokoro-live").is_dir()


def test_a_language_without_pronunciation_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"'tlh'.*en-us.*cmn"):
        _g2p.words("qapla", "tlh")


def test_words_are_counted_by_how_they_were_pronounced_and_cached_ones_once() -> None:
    g2p = G2P()
    for _ in range(3):
        g2p.words("Hello Frobnitz, 😀 !", "en-us")
    assert g2p.fallbacks == Counter(lexicon=1, espeak=1)
    assert (g2p.cache.hits, g2p.cache.misses) == (2, 1)
    assert g2p.cache.bytes > 0


def test_a_language_without_a_lexicon_lacks_no_word() -> None:
    told: list[tuple[str, int]] = []
    g2p = G2P(pronounced=lambda source, words: told.append((source, words)))
    g2p.words("hola mundo", "es")
    assert g2p.fallbacks == Counter(rules=2) and told == [("rules", 2)]


def test_the_cache_tells_languages_apart() -> None:
    g2p = G2P()
    assert g2p.words("hola", "es") != g2p.words("hola", "en-us")
    assert g2p.words("bother", "en-gb") != g2p.words("bother", "en-us")


def test_the_version_names_all_that_phonemes_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    version = G2P().version
    assert re.fullmatch(r"\d+/misaki-[\d.]+/espeak-ng-[\d.]+/perceptron", version)
    monkeypatch.setattr("text.english.tagger.tagger_name", lambda: "en_core_web_sm-9.9")
    assert G2P().version != version


def test_importing_and_constructing_loads_nothing() -> None:
    code = (
        "import sys\n"
        "from text import g2p\n"
        "from text.english import english, tagger\n"
        "from text.espeak import espeak_g2p\n"
        "from text import east_asian\n"
        "g2p.G2P()\n"
        "heavy = {'misaki', 'spacy', 'phonemizer', 'num2words', 'espeakng_loader', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "g2p.G2P().words('Hello Kubernetes', 'en-us')\n"
        "g2p.G2P().words('hola', 'es')\n"
        "heavy = {'spacy', 'phonemizer', 'joblib', 'torch', 'onnxruntime', 'kokoro_onnx'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, None])
def test_no_temporary_file_is_left_after_any_ending(tmp_path: Path, ending: signal.Signals | None) -> None:
    """1. A process pronounces by espeak-ng, in each way there is. 2. It ends. 3. Its temporary folder is empty."""
    code = (
        "import sys\n"
        "from text.g2p import G2P\n"
        "for language in ('en-us', 'fr-fr'):\n"
        "    assert G2P().words('Kubernetes Привет', language)[0].phonemes\n"
        "print('pronounced', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == b"pronounced\n"
        if ending is None:
            process.stdin.close()
        else:
            process.send_signal(ending)
        assert process.wait(timeout=60) == (0 if ending is None else -ending)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["-----हह" * 12, "⣿ ǰ", "a." * 500, "{-न" * 60, "\ue000" * 40, "[[a]]", "\x01\x00b"])
@pytest.mark.parametrize("voice", ["ar", "fr", "ka", "en-us"])
def test_texts_that_crash_espeak_do_not(text: str, voice: str) -> None:
    """Each of the first three ends a process that gives it to espeak-ng 1.52 as it is."""
    for _ in range(20):
        assert isinstance(espeak.phonemes(text, voice), str)


def test_a_language_that_was_loaded_ahead_loads_nothing_more_for_its_first_sentence() -> None:
    code = (
        "import sys; from text.g2p import G2P; g2p = G2P(); g2p.load('en-us'); before = set(sys.modules); "
        "g2p.words('Hello there.', 'en-us'); print(*sorted(n for n in set(sys.modules) - before if 'misaki' in n))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_a_sentence_may_come_while_its_language_is_being_loaded_by_another_thread() -> None:
    code = (
        "import sys, threading; from text.g2p import G2P; g2p = G2P(); sys.setswitchinterval(1e-6);"
        "loading = threading.Thread(target=g2p.load, args=('en-us',)); loading.start();"
        "said = [g2p.words('Hello there.', 'en-us') for _ in range(3)];"
        "loading.join(); print(*(word.phonemes for word in said[0]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["həlˈO", "ðˈɛɹ."]


def test_no_strange_language_can_be_loaded_ahead() -> None:
    with pytest.raises(ValueError, match="no pronunciation"):
        G2P().load("tlh")


_words = st.lists(
    st.builds(Word, st.text(max_size=20), st.text(max_size=40), st.sampled_from(PhonemeSource)), max_size=6
)
_keys = st.tuples(st.text(max_size=30), st.sampled_from(["en-us", "es"]), st.sampled_from(["1", "2"]))


def _entry(name: str, length: int = 4) -> tuple[Key, tuple[Word, ...]]:
    return (name, "en-us", "1"), (Word(name, "x" * length, PhonemeSource.LEXICON),)


@given(
    limit=st.integers(0, 5_000),
    steps=st.lists(st.tuples(_keys, st.one_of(st.none(), _words)), max_size=40),
)
def test_never_over_its_bound_and_never_another_answer(limit: int, steps: list[tuple[Key, list[Word] | None]]) -> None:
    cache = PhonemeCache(limit)
    latest: dict[Key, tuple[Word, ...]] = {}
    gets = 0
    for key, words in steps:
        if words is None:
            gets += 1
            found = cache.get(key)
            assert found is None or found == latest[key]
        else:
            latest[key] = tuple(words)
            cache.put(key, latest[key])
            fits = size_of(key, latest[key]) <= limit
            assert (cache.get(key) == latest[key]) if fits else (cache.get(key) is None)
            gets += 1
        assert 0 <= cache.bytes <= limit
    assert cache.hits + cache.misses == gets
    kept = [key for key in latest if cache.get(key) is not None]
    assert cache.bytes == sum(size_of(key, latest[key]) for key in kept)
    assert len(cache) == len(kept)


def test_the_least_recently_used_goes_first() -> None:
    a, b, c = _entry("a"), _entry("b"), _entry("c")
    cache = PhonemeCache(2 * size_of(*a))
    cache.put(*a)
    cache.put(*b)
    assert cache.get(a[0]) == a[1]
    cache.put(*c)
    assert [cache.get(entry[0]) is not None for entry in (a, b, c)] == [True, False, True]


def test_an_entry_over_the_bound_pushes_nothing_out() -> None:
    small, huge = _entry("small"), _entry("huge", 10_000)
    cache = PhonemeCache(5_000)
    cache.put(*small)
    cache.put(*huge)
    assert cache.get(small[0]) is not None
    assert cache.get(huge[0]) is None


def test_the_bytes_are_about_what_the_entries_take() -> None:
    cache = PhonemeCache(1 << 30)
    tracemalloc.start()
    try:
        for place in range(700):
            words = tuple(Word(f"word{place}{n}", f"wˈɜɹd{place}{n}", PhonemeSource.LEXICON) for n in range(12))
            cache.put((f"a sentence of some length {place} " * 2, "en-us", "1"), words)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.75 < cache.bytes / taken < 1.25


def test_threads_share_it() -> None:
    cache = PhonemeCache(20_000)

    def work(seed: int) -> None:
        for step in range(2_000):
            entry = _entry(str((step * 7 + seed) % 50))
            found = cache.get(entry[0])
            assert found is None or found == entry[1]
            cache.put(*entry)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.hits + cache.misses == 8_000
    assert 0 < cache.bytes <= 20_000


@pytest.mark.parametrize(
    ("language", "text", "written"),
    [
        ("ja", "私は一日三回", "わたしはいちにちサンカイ"),
        ("ja", "二十一日に私立学校へ何か月、二千円", "二十一日に私立学校へ何か月、二千円"),
        ("ja", "四月二日十九時三十分、十二本", "シガツフツカジュークジサンジュップン、ジューニホン"),
        (
            "ja",
            "六百本、六歳、十一点、三階、七人、三千円",
            "ロッピャッポン、ロクサイ、ジューイッテン、サンガイ、シチニン、三千円",
        ),
        ("ja", "三割一分二厘、三回表、一死満塁、百十八手で", "三割一ブ二厘、サンカイオモテ、イッシ満塁、百十八てで"),
        ("ja", "一票差、第十話、八戦、十二点五日", "イッピョー差、第ジューワ、ハッセン、ジューニテンゴニチ"),
        ("ja", "三分の一で十分、六本木、四日市、一個人", "三分の一で十分、六本木、四日市、一個人"),
        ("cmn", "他跑得很快,还书", "他跑的很快,环书"),
        ("cmn", "获得很多,还清楚,第一只有", "获得很多,还清楚,第一只有"),
    ],
)
def test_a_word_of_several_readings_is_written_as_its_neighbours_tell(language: str, text: str, written: str) -> None:
    assert by_neighbours(text, language) == written


@pytest.mark.parametrize(
    ("text", "written"), [("金曜日", "キンヨービ"), ("締結日から", "締結ビから"), ("平日", "平日")]
)
def test_days_of_something_end_in_bi_where_no_word_of_their_own_does(text: str, written: str) -> None:
    assert by_neighbours(text, "ja") == written
    assert all(by_neighbours(f"{day}曜日に", "ja").endswith("ヨービに") for day in "月火水木金土日")


def test_the_last_digit_of_a_decimal_has_its_own_sound() -> None:
    sounds = re.findall(r"\w+", "イチ ニ サン ヨン ゴ ロク ナナ ハチ キュー ゼロ")
    for digit, sound in zip("一二三四五六七八九零", sounds, strict=True):
        assert by_neighbours(f"点二{digit}キロ", "ja").endswith(f"{sound}キロ")
