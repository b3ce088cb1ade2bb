"""The tab of other programs in Chromium: their lines are `connect`'s own, they are copied, and a call gives a tick."""

import subprocess
import sys
import urllib.request

from playwright.sync_api import Browser, Locator, expect

from supervisor.connect.clients import CLIENTS
from tests.page.visit import Visit, needs_chromium
from tests.system.server import DEADLINE, ROOT, Server

pytestmark = needs_chromium


def row(visit: Visit, title: str) -> Locator:
    return visit.page.get_by_role("tabpanel", name="Connect").get_by_role("listitem").filter(has_text=title)


def printed(server: Server, name: str) -> str:
    url = f"http://127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "supervisor", "connect", name, "--print", "--url", url]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=DEADLINE, check=True).stdout


def test_it_lists_what_the_command_prints_and_copies_it(visit: Visit, espeak: Server) -> None:
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.page.get_by_role("tab", name="Connect").click()
    rows = visit.page.get_by_role("tabpanel", name="Connect").get_by_role("listitem")
    expect(rows).to_have_count(len(CLIENTS))
    assert [text.strip() for text in rows.locator("summary").all_inner_texts()] == [each.title for each in CLIENTS]
    for client in CLIENTS:
        if client.name not in ("livekit", "openai", "readest"):
            continue
        one = row(visit, client.title)
        one.locator("summary").click()
        one.get_by_role("button", name="Copy the lines").click()
        copied = visit.page.evaluate("navigator.clipboard.readText()")
        assert str(espeak.port) in copied and copied in printed(espeak, client.name)
        expect(one.locator("pre").first).to_have_text(f"kokoro-live connect {client.name}")
    visit.axe_finds_nothing()
    visit.page.get_by_label("The program runs").select_option("container")
    expect(row(visit, "OpenAI").locator("pre").nth(1)).to_contain_text("host.docker.internal")


NEWS = """<title>News &amp; more</title><script>var a = "<p>code</p>"</script><nav>Menu</nav>
<article><h1>Rain</h1><p>It rains.</p><p id="last">It <b>pours</b>.</p></article><footer>End</footer>"""


def test_a_bookmark_reads_any_page_or_the_marked_part_of_it(visit: Visit) -> None:
    visit.page.get_by_role("tab", name="Connect").click()
    link = visit.page.get_by_role("link", name="Read this page aloud").get_attribute("href")
    assert link and link.startswith("javascript:")
    visit.context.route("https://news.example/", lambda route: route.fulfill(content_type="text/html", body=NEWS))
    news = visit.context.new_page()
    news.goto("https://news.example/")
    for marked, read in (("", "Rain It rains. It pours."), ("last", "It pours.")):
        news.evaluate("id => id && getSelection().selectAllChildren(document.getElementById(id))", marked)
        with visit.context.expect_page() as opened:
            news.evaluate(link.removeprefix("javascript:"))
        reader = opened.value
        expect(reader.locator("#title")).to_have_text("News & more")
        assert " ".join(reader.locator("#pane").inner_text().split()) == read
        assert reader.url == f"{visit.origin}/", "the text stays in no history"
        reader.keyboard.press(" ")
        reader.wait_for_function("() => document.body.dataset.reading !== 'idle'")


def test_a_client_that_has_called_has_a_tick(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, viewport={"width": 320, "height": 700}, color_scheme="dark") as visit:
        visit.page.get_by_role("tab", name="Connect").click()
        expect(row(visit, "LiveKit Agents")).to_be_visible()
        ticks = visit.page.locator(".called:visible")
        before = ticks.count()
        request = urllib.request.Request(
            f"{visit.origin}/v1/audio/speech",
            b'{"input": "Hello.", "voice": "af_heart"}',
            {"Content-Type": "application/json", "User-Agent": "axios/1.7.9"},
        )
        urllib.request.urlopen(request, timeout=DEADLINE).read()
        expect(row(visit, "LibreChat").locator(".called")).to_contain_text("Has called")
        assert ticks.count() == before + 1
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
        visit.axe_finds_nothing()
