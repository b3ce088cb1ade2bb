"""Rules for web, mail and IP addresses, file paths, #tags and @names."""

from __future__ import annotations

import re
from itertools import pairwise

from text.locales.english import ADDRESS_PART, ADDRESS_SIGNS
from text.locales.tables import table
from text.normalization.draft import END, GAP, MASK, START, Draft
from text.normalization.number_words import cardinal, digits

_TABLE: dict[str, str] = table("en", "programming")["addresses"]
_TLDS = "|".join(_TABLE["domains"].split())
_LABEL = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,6}}"
_TAIL = rf"(?:[/?#](?:[^\s<>\"“”{MASK}{GAP}]{{0,2048}}[\w/=&~])?)?"

_MAIL = re.compile(
    rf"(?<![\w.+-])(?:mailto:)?(?P<local>[\w.+&-]{{1,64}}(?<![.&-]))@(?P<host>{_LABEL}(?:\.{_LABEL}){{1,6}})"
    rf"(?P<path>:[\w~][\w./-]{{1,200}}(?<![.-])|(?:/[\w-]{{1,40}}(?![\w.-]*@))*){END}",
    re.IGNORECASE | re.ASCII,
)
_WEB = re.compile(
    rf"{START}(?<![@/.])(?:(?:(?:https?|ftp|wss?)://|(?P<doi>doi:? ?(?=10\.)))(?P<any>{_HOST})|(?P<www>www\.{_HOST})"
    rf"|(?P<bare>(?:{_LABEL}\.){{1,5}}(?:{_TLDS})(?![\w@-]|\.\w)|localhost(?=[:/]\w)))(?::(?P<port>\d{{2,5}}))?(?P<tail>{_TAIL})",
    re.IGNORECASE | re.ASCII,
)
_HOSTED = re.compile(
    rf"doi:? ?10|doi:|[.:/](?:(?<=www\.)|(?<=localhost.)|(?<=:)//|(?<=\.)(?:{_TLDS})(?![\w@-]))",
    re.IGNORECASE | re.ASCII,
)
"""Part that every match of `_WEB` has, and that is found sooner."""
_FILE = re.compile(r"\bfile://(?P<path>(?:/[\w.~-]{1,64}){1,12})(?<!\.)", re.IGNORECASE)
_IP = re.compile(
    rf"{START}(?<!\d\.)(?:https?://)?(?P<host>\d{{1,3}}(?:\.\d{{1,3}}){{2}}\.(?:\d{{1,3}}|[xX]))(?::(?P<port>\d{{2,5}})|/(?P<bits>\d{{1,2}}))?{END}(?!\.\d)"
)
_IP6 = re.compile(
    rf"{START}(?=[0-9a-fA-F:]{{0,39}}::?[0-9a-fA-F])(?:[0-9a-fA-F]{{1,4}}+:){{1,7}}(?::?[0-9a-fA-F]{{1,4}}+){{1,7}}{END}(?!:)"
)
_IS_IP6 = re.compile(r"::|(?:[^:]*:){5}")
_WINDOWS = re.compile(
    rf"{START}(?P<drive>[A-Z]):(?P<path>(?:\\[\w .-]{{1,40}}?){{1,8}})(?=$|[\s,;:!?)\"'”]|\.(?:\s|$))"
)
_IN_FOLDER = re.compile(r"/[\w-]{1,40}\.[a-z]")
_RELATIVE = re.compile(rf"(?<![\w/.~:@])(?:\.{{1,2}}/)?(?:[\w-]{{1,40}}/){{1,6}}[\w-]{{1,40}}\.[a-z]\w{{0,4}}{END}")
_HIDDEN = re.compile(r"(?<![\w/])~/(?P<path>\.?[\w-]{1,30}(?:/[\w.-]{1,30}){0,5})(?<!\.)")
_PATH = re.compile(
    rf"(?<![\w{re.escape('.~/:)')}])~?(?:/[\w.-]{{1,64}}){{2,12}}(?<!\.)/?|(?<![^\s(\"'])~?/[a-zA-Z][\w-]{{1,30}}(?![\w/])"
)
_TAG = re.compile(
    r"(?:\b[Hh]ashtag )?(?<![\w&/#])#(?![A-Z]{1,5}-?(?!(?:19|20)\d\d\b)\d{4}|[A-Z]{1,5}-\d|[A-Z]{1,3}/[A\d])"  # #N/A
    r"(?P<name>(?:\d{1,6}(?=[^\W\d_]{3}))?[^\W\d_]\w{0,80})"
)
_HANDLE = re.compile(r"(?<![\w.@/])@(?P<name>[^\W_]\w{0,40}(?:[.-]\w{1,40}){0,3})")
_CONFIGURATION = re.compile(r"\b(bash|zsh|vim|npm)(rc)\b")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[A-Z])|_+")
_LIKE_A_KEY = re.compile(r"(?=\S*\d)(?=\S*[a-zA-Z])[\w-]{12,}|[\w-]{40,}|\d{8,}")

_SPELLED = frozenset(("io", "tv", "uk", "us", "eu", "http", "https", "www", "de", "fr", "jp", "cn", "nl", "nz"))
_MAX_PATH_PARTS = 2
_MAX_PATH = 40
"""Most characters of a web address's path that are read; listeners remember no more."""


def web_addresses(draft: Draft) -> None:
    british = draft.british
    draft.replace(_MAIL, _mail, "@")
    draft.replace(_IP, lambda match: _machine(match, british), ".")
    if draft.has(":"):
        draft.replace(_IP6, _machine6)
        draft.replace(_FILE, lambda match: f"file {_path(match['path']).lstrip()}")
    if _HOSTED.search(draft.text):
        draft.replace(_WEB, _web)
    draft.replace(_HIDDEN, lambda match: f"tilde {_path('/' + match['path']).lstrip()}", "~")
    draft.replace(_WINDOWS, lambda match: f"{match['drive']} colon" + match["path"].replace("\\", " backslash "), "\\")
    if draft.has("/"):
        if _IN_FOLDER.search(draft.text):
            draft.replace(_RELATIVE, lambda match: _path("/" + match[0]).removeprefix("slash "))
        draft.replace(_PATH, lambda match: _path(match[0]))
    hashtags(draft)
    draft.replace(_HANDLE, lambda match: f"at {_parts(_name(match['name']))}", "@")


def hashtags(draft: Draft) -> None:
    draft.replace(_TAG, lambda match: "numbers" if match["name"] == "s" else f"hashtag {_name(match['name'])}", "#")


NEEDED = re.compile(r"[@#/~\\]|\.(?<=\w\.)\w|:\w*:|localhost:")
"""Pattern that every sentence with an address matches."""


def protect(draft: Draft) -> None:
    for pattern in (_MAIL, _IP, _IP6, _FILE, _WEB, _HIDDEN, _WINDOWS, _RELATIVE, _PATH):
        draft.keep(pattern)


def _mail(match: re.Match[str]) -> str:
    return f"{_parts(match['local'])} at {_host(match['host'])} {_parts(match['path'])}".rstrip()


def _web(match: re.Match[str]) -> str | None:
    host = match["any"] or match["www"] or match["bare"]
    if match["bare"] and not match["tail"] and _is_sentence_seam(host):
        return None
    said = "D.O.I " * bool(match["doi"]) + _host(host[4:] if host[:4].lower() == "www." else host)
    if match["port"]:
        said += f" port {digits(match['port'])}"
    path, *query = re.split("[?#]", match["tail"], maxsplit=1)
    parts = [part for part in path.split("/") if part]
    read: list[str] = []
    for part in parts[:_MAX_PATH_PARTS]:
        if not (match["doi"] or host == "doi.org") and (
            _LIKE_A_KEY.fullmatch(part) or sum(map(len, read)) + len(part) > _MAX_PATH
        ):
            break
        read.append(part)
    said += "".join(f" slash {_parts(part.replace('-', ' '))}" for part in read)
    return said + (" and so on" if len(read) < len(parts) or any(query) else "")


def _is_sentence_seam(host: str) -> bool:
    """True for two sentences without a space between them (`end.It`), which are no host name."""
    labels = host.split(".")
    return any(left.islower() and right[:1].isupper() and right[1:].islower() for left, right in pairwise(labels))


def _host(host: str) -> str:
    return " dot ".join(_parts(label) for label in host.split("."))


def _parts(written: str) -> str:
    said = []
    for part in ADDRESS_PART.findall(written):
        if part in ADDRESS_SIGNS:
            said.append(ADDRESS_SIGNS[part])
        elif part.isdecimal() and (len(part) > 4 or part[0] == "0"):
            said.append(digits(part))
        else:
            said.append(".".join(part.upper()) if part.lower() in _SPELLED else part)
    return " ".join(said)


def _name(written: str) -> str:
    return " ".join(filter(None, _CAMEL.sub(" ", written).split()))


def _path(written: str) -> str:
    said = "tilde" if written[0] == "~" else ""
    for part in filter(None, written.lstrip("~").split("/")):
        said += " slash " + _CONFIGURATION.sub(lambda name: f"{name[1]} {' '.join(name[2])}", _parts(part))
    words = said.strip()
    return f" {words}" if written.startswith("/.") else words


def _machine6(match: re.Match[str]) -> str | None:
    if not _IS_IP6.search(match[0]):
        return None
    runs = re.findall(r"(?<!\d)[1-9]\d?(?!\d)|\d|[a-fA-F]|:", match[0])
    return " ".join("colon" if run == ":" else run if run.isalpha() else cardinal(int(run), False) for run in runs)


def _machine(match: re.Match[str], british: bool) -> str | None:
    octets = match["host"].split(".")
    if any(octet.isdecimal() and int(octet) > 255 for octet in octets):
        return None
    numbers = (octet.upper() if len(octet) == 3 or octet in "xX" else cardinal(int(octet), british) for octet in octets)
    said = " dot ".join(digits(each) if each.isdecimal() else each for each in numbers)
    if match["port"]:
        said += f" port {digits(match['port'])}"
    if match["bits"]:
        said += f" slash {cardinal(int(match['bits']), british)}"
    return said


_COMMAND = re.compile(rf"\b(?:{'|'.join(_TABLE['commands'].split())})\b", re.IGNORECASE)
_DASHED = re.compile(r"\s-")
_OPTION = re.compile(r"(?<=\s)(?P<dashes>--?)(?P<name>[a-zA-Z][\w]{0,20}(?:-\w{1,20}){0,4})(?P<value>=)?(?![\w-])")
_SHORT = re.compile(r"[a-z]{1,4}")
_CALL = re.compile(rf"{START}(?P<name>[A-Za-z_]\w{{0,30}}(?:\.[A-Za-z_]\w{{0,30}}){{0,3}})\(\)")
_CREMENT = re.compile(rf"{START}(?P<name>[a-z])(?P<sign>\+\+|--)(?=[\s;,.)]|$)")
_CUT = r"(?i:(?<=acct |card |visa |ount ))(?:\.{3}|…) ?"
_MASKS = rf"[*•xX](?<![\w{MASK}].)[*•xX]{{1,3}}[- ]?(?:[*•xX]{{2,4}}[- ]?){{0,3}}|{_CUT}"
_MASKED = re.compile(rf"(?P<ends>(?i:\bend(?:s|ed|ing) (?:in |with )?))?(?:{_MASKS})(?P<last>\d{{3,4}})(?!\d)")
_HEX = re.compile(rf"0[xX](?<![\w{MASK}]..)(?P<digits>[\da-fA-F]{{1,16}}){END}")


def code(draft: Draft) -> None:
    draft.replace(_HEX, lambda match: " ".join(digits(c) if c.isdecimal() else c.upper() for c in match[0]), "0")
    if draft.has("-") and _DASHED.search(draft.sentence) and _COMMAND.search(draft.sentence):
        draft.replace(_OPTION, _option)
    draft.replace(_MASKED, lambda match: f"{match['ends'] or 'ending in '}{digits(match['last'])}", "*•xX.…")
    if "()" in draft.sentence:
        draft.replace(_CALL, lambda match: " dot ".join(_name(part) for part in match["name"].split(".")))
    if "++" in draft.sentence or "--" in draft.sentence:
        draft.replace(
            _CREMENT, lambda match: f"{match['name']} {'plus plus' if match['sign'] == '++' else 'minus minus'}"
        )


def _option(match: re.Match[str]) -> str:
    name = match["name"]
    spelled = match["dashes"] == "-" and _SHORT.fullmatch(name)
    said = " ".join(name) if spelled else name.replace("-", " ").replace("_", " ")
    return f"{'dash dash' if match['dashes'] == '--' else 'dash'} {said}" + (" equals " if match["value"] else "")
