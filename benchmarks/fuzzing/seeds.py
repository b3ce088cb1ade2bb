"""The targets' first inputs, as clients and authors write them."""

from __future__ import annotations

SSML = (
    b'<speak>One<break time="300ms"/><mark name="m"/><voice name="am_echo"><prosody rate="+20%">two</prosody></voice>'
    b'<p><s>A <phoneme alphabet="ipa" ph="b">b</phoneme></s></p><sub alias="c">C</sub><desc>d</desc>'
    b'<say-as interpret-as="date" format="mdy">1/2/26</say-as></speak>',
    "<?xml version='1.0'?><speak><say-as interpret-as='characters'>ab&amp;ü</say-as></speak>".encode(),
)
TAGS = (b"One [pause:1.5s] [word](/b/) [voice:af_heart] two [rate:80%] three [1] [docs](/docs/).",)
MARKDOWN = (
    b"---\ntitle: T\nlang: de\n---\n# One\n\nText[^1] with *stress*, `code` and [a link](http://a.b/c)."
    b"\n\n[^1]: Note\n"
    b"\n## Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n* item\n1. item\n\n***\n"
    b"\n```\ncode\n```\n<b>html</b>\n",
)
HTML = (
    b'<!DOCTYPE html><html lang="en"><head><title>T</title><style>a{}</style></head><body><nav>n</nav><h1>'
    b"One</h1><p>Text "
    b"&amp; <em>more</em><br>x</p><ul><li>item</ul><blockquote>q</blockquote><table><tr><td>1<td>2</table>"
    b"<hr><h1>Two</h1>"
    b"<pre>a\nb</pre><p>End.</html>",
)
OPF = (
    b'<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc'
    b'="http://purl.org/'
    b'dc/elements/1.1/"><dc:title>T</dc:title><dc:creator>C</dc:creator><dc:language>en</dc:language></met'
    b"adata><manifest>"
    b'<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="c" href="1.xhtml" '
    b'media-type="application/xhtml+xml"/><item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml'
    b'"/></manifest>'
    b'<spine toc="x"><itemref idref="c"/></spine></package>'
)
NCX = (
    b'<ncx><navMap><navPoint><navLabel><text>One</text></navLabel><content src="1.xhtml#a"/></navPoint></navMap></ncx>'
)
NAV = (
    b'<html xmlns:epub="http://www.idpf.org/2007/ops"><nav epub:type="toc"><ol><li><a href="1.xhtml">One</'
    b"a></li></ol></nav>"
    b"</html>"
)
EPUB = b"\0".join((OPF, NCX, NAV, b'<html><body><h1 id="a">One</h1><p>Text.</p></body></html>'))
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R"
    b"]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n4 0 obj<</Le"
    b"ngth 40>>stream\n"
    b"BT /F 12 Tf 1 0 0 1 9 9 Tm (Some text.) Tj ET\nendstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/B"
    b"aseFont/Helvetica>>"
    b"endobj\n6 0 obj<</First 7 0 R/Last 7 0 R/Count 1>>endobj\n7 0 obj<</Title(One)/Parent 6 0 R/Dest[3 0"
    b" R/Fit]>>endobj\n"
    b"trailer<</Root 1 0 R/Info<</Title(T)>>>>\n"
)
BODY = {"input": "Hello.", "model": "kokoro", "voice": "af_heart", "response_format": "pcm", "speed": 1.1}
LINES = {"text": "Hello.", "model_id": "k", "voice_settings": {"speed": 1.0}, "apply_text_normalization": "off"}
CARTESIA_VOICE = {"voice": {"mode": "id", "id": "af_heart"}, "language": "en"}
CARTESIA = {
    "transcript": "Hello.",
    **CARTESIA_VOICE,
    "output_format": {"encoding": "pcm_s16le", "sample_rate": 24000},
}
GOOGLE = {
    "input": {"markup": "Hello. [pause long] There."},
    "voice": {"languageCode": "en-GB", "ssmlGender": 1},
    "audioConfig": {"audioEncoding": "MULAW", "speakingRate": 1.1, "pitch": -2, "sampleRateHertz": 8000},
    "enableTimePointing": ["SSML_MARK"],
}
CONFIG = (
    b"port = " + b"[" * 1500,
    b'port = 8880\nhost = "127.0.0.1"\nlog_level = "info"\nworkers = 1\nheader_timeout = "10s"\napi_keys = ["a"]\n'
    b'provider_options = { a = "b" }\ntuned = false\nmax_streams = 8\nspeed = 1.5\nlexicon = "words.txt"\n',
)
LEXICON = ("# words\nkokoro\t/kˈoʊkəɹoʊ/\nC++\tsee plus plus\ten\nTür\t/tyːɐ/\tde\n".encode(),)
CAST = (
    b"narrator = " + b"[" * 1500,
    b'narrator = "af_heart"\nquotes = "am_echo"\n[speakers]\nAlice = "bf_emma"\n\0"Hello," said Alice. "Yes."',
)
NAMES = (b"af_heart(2)+am_echo(1)", b"af_heart+bf_emma\nen-GB", b"alloy\npt_BR")
JSON = ("input", "voice", "speed", "stream", "response_format", "null", "true", "1e999", "\\ud800", '{"', '":', "[]")
PLAIN = (b"CHAPTER I\n\nOne.\n\n* * *\n\nTwo.",)
MODULE = b'Url "http://a:1/"\nVoice af_heart\nInstantWords 3\nInstantCharacters off\n# c\n'
DICTIONARY = b'{\n  "a": "b",\n  "c": {\n    "DEFAULT": "d",\n    "VB": null\n  }\n}\n'
