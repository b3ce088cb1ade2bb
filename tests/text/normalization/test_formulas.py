"""Formulas, MathML, and the layout of texts."""

import random
import re
import time

import pytest

from text.locales.tables import languages, table
from text.normalization.layout import FILLER, cleared, mathml_as_tex
from text.normalization.normalize import normalize, normalized_sentences
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

CODES = {"en": "en-us", "fr": "fr-fr", "pt": "pt-br"}


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{a}{b} = 2",
        "n-1",
        "x_1 + y_2",
        "a^2 + b^2 = c^2",
        r"2 \times 3",
        "n",
        "2k",
        r"\text{if } x > 0",
        "a*b*c = d",
        "|x| < 1",
    ],
)
@pytest.mark.parametrize("around", ["Here {} holds.", "- **Note**: {}, and `code`.", "{}", "> See [docs][1]: {}!"])
def test_a_formula_is_read_alike_between_any_delimiters(formula: str, around: str) -> None:
    forms = [f"${formula}$", f"$${formula}$$", rf"\({formula}\)", rf"\[{formula}\]", f"$$\n{formula}\n$$"]
    heard = {" ".join(said(around.format(form)).split()) for form in forms}
    assert len(heard) == 1
    assert not re.search(r"[\\$_^{}]", heard.pop())


@pytest.mark.parametrize("second", ["$6", "$6.50", "$6-$7", "US$6", "$6M"])
@pytest.mark.parametrize("joint", [" and ", " or ", "-", "/", ", ", " to "])
def test_prices_are_no_formula(joint: str, second: str) -> None:
    assert "dollars" in said(f"It costs $5{joint}{second} there.")


@pytest.mark.parametrize("language", ["en-us", "es", "ja"])
@pytest.mark.parametrize(
    "text", ["PATH=$HOME/bin:$PATH", "${A[$i-1]} = ${B[$i]}", 'if "$foo" = "$bar"', "$pid = open($in)"]
)
def test_variables_of_programs_are_no_formula(text: str, language: str) -> None:
    heard = said(text, language)
    assert all(name in heard for name in re.findall(r"[A-Za-z]{2,}", text))


@pytest.mark.parametrize("text", [r"a \[citation needed\] b", r"a \(not a formula\) b"])
def test_escaped_brackets_around_prose_stay_brackets(text: str) -> None:
    assert said(text) == text.replace("\\", "")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (r"\sum_{i=1}^{n} i", "the sum from i equals one to n of i"),
        (r"\int_0^1 x^2 \, dx", "the integral from zero to one of x squared d x"),
        (r"\lim_{x \to \infty} f(x) = 0", "the limit as x goes to infinity of f of x equals zero"),
        (r"x \in \mathbb{R}", "x is in the real numbers"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} = A", "the two by two matrix, one, two, three, four equals A"),
        (r"P(A \mid B) = 1", "P of A given B equals one"),
        (r"\hat{y} = \bar{x}", "y hat equals x bar"),
        (r"A^T B^{-1} = 1", "A transpose B to the minus one equals one"),
        (r"\sqrt[3]{x} = 2", "the cube root of x equals two"),
        (r"\binom{n}{k} = 1", "n choose k equals one"),
        (r"\frac{3}{4} + \frac{a}{b}", "three quarters plus a over b"),
        (r"\mathbb{E}[X] = 2", "E of X equals two"),
        (r"n(n+1) = 2", "n times n plus one equals two"),
        (r"T_{\max} = \max_i x_i", "T sub max equals the maximum over i of x sub i"),
        (r"x \in \mathbb{R}^n", "x is in R to the n"),
        (
            r"\begin{cases} 1 & x > 0 \\ 0 & x < 0 \end{cases}",
            "one if x is greater than zero, zero if x is less than zero",
        ),
        (r"30^\circ = x", "thirty degrees equals x"),
    ],
)
def test_a_formula_is_said_as_a_reader_would(formula: str, words: str) -> None:
    assert said(rf"\({formula}\)") == words


def test_an_environment_needs_no_delimiters() -> None:
    assert said(r"\begin{align} a &= b \\ c &= d \end{align}") == "a equals b, c equals d"


def test_nested_and_broken_formulas_raise_nothing_and_take_linear_time() -> None:
    for part in ("{", "(", "|", r"\frac", "^", "_", r"\begin{matrix}", r"\sqrt[", r"\sum_", "&"):
        for form in (f"${part * 90}x=1$", rf"\({part * 20}\)"):
            assert isinstance(said(form), str)
    randomness = random.Random(2)
    parts = [
        *r"{}()[]|^_&'$,.=<x2",
        r"\{",
        r"\}",
        r"\\",
        r"\frac",
        r"\sum",
        r"\left",
        r"\text{a}",
        r"\end{matrix}",
        r"\begin{cases}",
    ]
    for _ in range(2000):
        formula = "".join(randomness.choices(parts, k=randomness.randint(1, 30)))
        assert isinstance(said(rf"\({formula}=1\) and ${formula}=1$"), str)


def said(text: str, language: str = "en-us") -> str:
    return normalize(sanitize(text), language, Normalization())


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", r"\frac{1}{2}"),
        ("<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn>", "x^{2}+1"),
        ("<mrow><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><msqrt><mi>b</mi></msqrt></mrow>", r"a_{i}=\sqrt{b}"),
        ("<msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></msubsup>", r"\sum_{i=1}^{n}"),
        (
            f"<mtable>{2 * '<mtr><mtd><mi>a</mi></mtd><mtd><mn>2</mn></mtd></mtr>'}</mtable>",
            r"\begin{matrix}a&2\\a&2\end{matrix}",
        ),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
    ],
)
def test_mathml_is_said_as_tex(mathml: str, tex: str) -> None:
    formula = f"So <math>{mathml}</math> holds."
    assert said(formula) == said(f"So ${tex}$ holds.")
    assert "math" not in said(formula)
    assert len(mathml_as_tex(formula, with_tex=True)) == len(formula)


def test_its_own_annotation_in_tex_wins() -> None:
    formula = '<math><semantics><mi>q</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>'
    assert said(formula) == said("$x^2$")


@pytest.mark.parametrize("broken", ["<math><mi>x</math>", "<math><mi>x</mi>&bogus;</math>"])
def test_what_is_no_xml_loses_its_tags(broken: str) -> None:
    assert "<" not in said(f"So {broken} holds.")
    assert "mi" not in said(f"So {broken} holds.")


FORMULAS = [
    r"\frac{a}{b} \ne c_1",
    r"\sum_{i=1}^{n} x_i^2 \le \int_0^1 y \, dy",
    r"\lim_{x \to 0} f(x) = \sqrt[3]{z}",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \cdot \vec{v} = |w|",
    r"\begin{cases} 1 & x > 0 \\ 0 & \text{n} \end{cases}",
    r"A^T \cap B = \emptyset \quad \forall t",
]


@pytest.mark.parametrize("language", languages("tex"))
def test_each_language_has_its_own_words_for_formulas(language: str) -> None:
    own, english = (table(code, "tex") for code in (language, "en"))
    assert own["phrases"].keys() >= english["phrases"].keys() - {"power"}
    for name, phrase in own["phrases"].items() - {("of", ""), ("all of", "{}")}:
        assert set(re.findall(r"{(\d?)}", phrase)) <= {"", "0", "1", "2"} and phrase.format("", "", "") is not None, (
            name
        )
    for formula in FORMULAS:
        heard = {said(f"{a}{formula}{b}", CODES.get(language, language)) for a, b in ((r"\(", r"\)"), ("$", "$"))}
        assert len(heard) == 1
        words = heard.pop()
        assert not re.search(r"[\\$_^{}]", words)
        assert language == "en" or not re.search(r"\b(?:over|of|the|equals|sub|squared)\b", words.replace(" sub ", " "))


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", "Sea x al cuadrado igual a un medio."),
        ("fr-fr", "Sea x au carré égale un demi."),
        ("it", "Sea x al quadrato uguale un mezzo."),
        ("pt-br", "Sea x ao quadrado igual a meio."),
        ("hi", "Sea x का वर्ग बराबर आधा."),
        ("ja", "Sea xの二乗イコール二分の一."),
        ("cmn", "Sea x的平方等于二分之一."),
    ],
)
def test_formulas_are_said_in_the_language_of_the_text(language: str, words: str) -> None:
    assert said(r"Sea \(x^2 = \frac{1}{2}\).", language) == words
    power = "<msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>"
    assert said(f"Sea <math>{power}</math>.", language) == words


@pytest.mark.parametrize(("name", "words"), table("en", "tex")["functions"].items())
def test_functions_are_said_before_their_arguments(name: str, words: str) -> None:
    assert normalize(f"So {name}(x) is it.", "en-us", Normalization()) == f"So {words} (x) is it."
    assert name in normalize(f"Call {name}() now, my{name}(x).", "en-us", Normalization())


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("∫₀^∞ e⁻ˣ dx", "the integral from zero to infinity of e to the minus x dx"),
        ("∑ᵢ₌₁ⁿ xᵢ", "the sum from i equals one to n of x i"),
        ("∏ₖ₌₂⁹ k", "the product from k equals two to nine of k"),
        ("∂f/∂x, x̄ and √(x)", "partial f over partial x, x bar and the square root of (x)"),
        ("f(g(x)) = x, g(−0.5) = 2", "f of g of x equals x, g of minus 0.5 equals 2"),
    ],
)
def test_small_signs_are_bounds_and_powers(written: str, words: str) -> None:
    assert normalize(written, "en-us", Normalization()) == words


def test_linear_time() -> None:
    said("<math>" * 20_000)
    said("<math>" + "<mi>" * 20_000 + "</math>")


def laid_out(text: str) -> str:
    return normalize(sanitize(text), "en-us", Normalization()).replace("\n", " | ")


CASES = [
    ("The group will post-\npone the meeting.", "The group will postpone the meeting."),
    ("A *long* para-\ngraph in **bold**.", "A long paragraph in bold."),
    ("This is a well-\nknown fact.", "This is a well-known fact."),
    ("It ended.\n\n- 47 -\n\nIt began.", "It ended. | It began."),
    ("It ended.\n\nPage 12 of 340\n\nIt began.", "It ended. | It began."),
    ("Page 12", "Page 12"),
    ("As others found.²³ This too.", "As others found. | This too."),
    ("As others found[3] and said.[4][5] This too.", "As others found and said. | This too."),
    ("Some studies[1,2] and the twenty-\none others.", "Some studies and the twenty-one others."),
    ("It works† well.", "It works well."),
    (
        "1\n00:00:01,000 --> 00:00:04,000\nHello there,\n\n2\n00:00:05,000 --> 00:00:07,500\nmy\nfriend.",
        "Hello there, my friend.",
    ),
    ("0:00\nso today\n0:04\nwe bake\n1:02:11\na cake", "so today we bake a cake"),
    ("[00:00]\nHello\n[00:05]\nall.\n[00:09]\nBye.", "Hello all. | Bye."),
    ("WEBVTT\n\n00:01.000 --> 00:04.000 line:1\n<v Ann>Come <i>in</i>.", "Come in."),
    ("00:14:07,250 --> 00:14:09,900 align:start I never said that.", "I never said that."),
    ("[b]Bold[/b] and [url=https://example.com]a link[/url].", "Bold and a link."),
    ("'''Paris''' is the [[capital city|capital]] of [[France]].{{cn}}", "Paris is the capital of France."),
    ("== History ==\nIt was ''old''.<ref>Smith</ref>", "History | It was old."),
    ("<ann> is it on?", "ann: is it on?"),
    ("¯\\_(ツ)_/¯ whatever", "whatever"),
    ("(╯°□°)╯︵ ┻━┻ I quit", "I quit"),
    ("Thanks (^_^) a lot", "Thanks a lot"),
    ("A state-of-the-\nart lab.", "A state-of-the-art lab."),
    ("The end of a page\n- 47 -\nand the next.", "The end of a page and the next."),
    ("The world that the\nPage 12 of 300\nship saw.", "The world that the ship saw."),
    ("THE GREAT BOOK 47\nIt ends here and\n48 THE GREAT BOOK\ngoes on.", "It ends here and goes on."),
    ("They agreed that the harbour\n\n47\n\nshould be dredged.", "They agreed that the harbour should be dredged."),
    ("The wind\n\n12 The Long Way\n\nwas up.\n\nAnn\n\nThe Long Way\n13\n\nsat.", "The wind was up. | Ann sat."),
    ("from Stratford-\nupon-Avon to New-\nhaven", "from Stratford-upon-Avon to New-haven"),
    ("00:00:01.000,00:00:03.500\nWhere is\n\n00:00:04.000,00:00:06.000\nhe?", "Where is he?"),
    ("$ git log", "git log"),
    ("me@host:~/a$ ls", "ls"),
    ("we won :tada: at 🅱🅾🅻🅳", "we won at BOLD"),
    ("[[File:a.png|thumb|A [[map]]]] [https://x.org The site] {{c}} is up. ~~~~", "The site is up."),
    ("It fell in Q42[1] and rose.[2]", "It fell in Q42 and rose."),
    ("So it was.^5 And is.", "So it was. | And is."),
    ("WEBVTT\n\nSTYLE\n::cue { color: red }\n\nintro\n00:05.000 --> 00:09.000\nCome in.", "Come in."),
    ("[ti:Song]\n[00:12.00]First line\n[00:17.20]Second line", "First line | Second line"),
    ("[list][*]one[*]two[/list] [img]http://x.org/y.png[/img][quote=Ann]hey[/quote]", "one | two | hey"),
    ("It is [[big]].\n* one\n** two", "It is big. | one | two"),
    ('{| class="x"\n! Name !! Age\n|-\n| Ann || 30\n|}', "Name, Age | Ann, 30"),
    ("+---+---+---+\n| A | B | C |\n+===+===+===+\n| x | y | z |\n+---+---+---+", "A, B, C | x, B: y, C: z"),
    ("TypeError: no x\n at Object.<anonymous> (/app/a.js:3:15)\n at node:internal/main:23:47", "TypeError: no x"),
    ("panic: bad index\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:8 +0x1d", "panic: bad index"),
    ("a.rb:1: oops (RuntimeError)\n from a.rb:3:in `f'\n from a.rb:9:in `g'", "a.rb:1: oops (RuntimeError)"),
    ("ᴛʜɪs is sᴜᴘᴇʀ", "this is super"),
    ("𝓗𝓮𝓵𝓵𝓸 𝗕𝗼𝗹𝗱 ⓗⓘ ᴛʜɪꜱ", "Hello Bold hi this"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_layout_is_left_out(text: str, expected: str) -> None:
    assert laid_out(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The field is 20 m² wide and 5 meters² of it is wet.",
        "a[0][1] and items[2] are code.",
        "He said (in 1990) that x^2 = 4 (see below).",
        "if [[ -f x ]]; then echo; fi",
        "It's the dogs' and the cats' 'own' food.",
        "A --> B means that A implies B.",
        "[b] is a bracket",
        "x_1 and (x, y) and f(x) are here.",
        "TEAM A 3\nTEAM B 1",
        "US 3\nUK 4",
        "Look at line 3 (see a.js:3)\nand at home.",
        "It was 3:\n1: the first\n2: the second",
        "CHAPTER 1\n\nIt was late.\n\nCHAPTER 2\n\nIt was early.",
        "The Long Way\n\n1\n\nAnn left.\n\nThe Long Way\n\n2\n\nBob came.",
        "milk\n\n3\n\neggs",
        "9:00\nBreakfast\n10:00\nTalk\n12:00\nLunch",
    ],
)
def test_text_that_only_looks_like_layout_stays(text: str) -> None:
    assert cleared(sanitize(text)) == sanitize(text)


def test_each_word_keeps_its_place() -> None:
    for text, _ in CASES:
        clean = sanitize(text)
        assert len(cleared(clean)) == len(clean)
        for sentence in normalized_sentences(clean, "en-us", Normalization()):
            ends = [word.end for word in sentence.words]
            assert ends == sorted(ends)
            for word in sentence.words:
                letters = re.sub(r"\W", "", word.said)
                assert FILLER not in word.said
                if ":" not in word.said:  # a heading before its cell
                    assert letters[:3] in re.sub(r"\W", "", cleared(clean)[word.start : word.end])


def test_any_signs_take_linear_time_and_raise_nothing() -> None:
    signs = ["[[", "]]", "''", "'''", "==", "\n", "{{", "}}", "(", ")", "_", "°", "[1]", "²", "-\n", "a", "-->"]
    signs += ["[b]", "[/b]", "<a> ", " "]
    randomness = random.Random(3)
    for _ in range(300):
        text = sanitize("".join(randomness.choices(signs, k=60)))
        assert len(cleared(text)) == len(text)
    for sign in signs:
        begin = time.process_time()
        cleared(sanitize(sign * 20_000 + "[/b]"))
        assert time.process_time() - begin < 5, sign


PYTHON = """It failed:
Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    run(argv)
  File "/srv/app/core.py", line 88, in run
    raise ValueError("bad")
ValueError: bad input
"""
JAVA = """java.lang.NullPointerException: no user
\tat com.acme.Users.find(Users.java:42)
\tat com.acme.Main.main(Main.java:7)
\t... 3 more
It failed."""


def test_a_stack_trace_is_its_error() -> None:
    said = normalize(sanitize(PYTHON), "en-us", Normalization())
    assert "ValueError: bad input" in said
    assert "Traceback" in said
    assert "core" not in said
    assert "run" not in said
    said = normalize(sanitize(JAVA), "en-us", Normalization())
    assert "no user" in said
    assert "It failed." in said
    assert "Users" not in said


def test_one_line_like_a_frame_stays() -> None:
    assert "Paris" in normalize(sanitize("We met\nat Paris (the hotel)"), "en-us", Normalization())


@pytest.mark.parametrize(
    ("western", "own"),
    [
        ("周一休息,11:00开门", "周一休息，11:00开门"),
        ("邮编100020,尾号4417。", "邮编100020，尾号4417。"),
        ("电话:010-5555", "电话：010-5555"),
    ],
)
def test_marks_beside_ideographs_belong_to_no_number(western: str, own: str) -> None:
    assert cleared(western) == own
    assert normalize(western, "cmn", Normalization()) == normalize(own, "cmn", Normalization())
