"""The tab of books in Chromium, over a real server: a book is dropped, made, downloaded and deleted."""

from playwright.sync_api import Browser, Locator, expect

from tests.page.visit import LONG, Visit, needs_chromium
from tests.system.book_jobs import accepted, result, until
from tests.system.server import DEADLINE, Server

pytestmark = needs_chromium

BOOK = b"---\ntitle: A Small Book\nauthor: A. Nobody\n---\n# One\n\nThis is a short book.\n\n# Two\n\nIt ends here.\n"
PATIENCE = 2 * DEADLINE * 1000


def shown(visit: Visit) -> Locator:
    """The tab's panel, shown as a person does."""
    visit.page.get_by_role("tab", name="Books").click()
    return visit.page.get_by_role("tabpanel", name="Books")


def test_a_book_is_made_downloaded_and_deleted(visit: Visit, espeak: Server) -> None:
    tab = shown(visit)
    tab.get_by_label("Book", exact=True).set_input_files([{"name": "small.md", "mimeType": "", "buffer": BOOK}])
    chapters = tab.locator(".books-chapters").get_by_role("checkbox")
    chapters.first.uncheck()
    expect(tab.locator(".books-chapters li")).to_have_text([" One 1 s", " Two 1 s"])
    expect(tab.locator("#book-chapters")).to_have_value("2")
    visit.axe_finds_nothing()
    chapters.first.check()
    expect(tab.locator("#book-chapters")).to_have_value("")
    tab.get_by_text("Cast").click()
    tab.get_by_role("button", name="Add a speaker").click()
    tab.get_by_label("Name of the speaker").fill('Anna "A" Nobody')
    speaker = tab.get_by_role("list", name="Speakers")
    speaker.get_by_label("Voice").select_option("bf_emma")
    with visit.page.expect_request("**/v1/audio/speech") as asked:
        speaker.get_by_role("button", name="Hear Emma").click()
    assert asked.value.post_data_json["voice"] == "bf_emma"
    tab.get_by_label("Quotations").select_option("am_adam")
    visit.axe_finds_nothing()
    tab.get_by_label("Format").select_option("mp3")
    speed = tab.locator("#book-speed")
    expect(speed).to_have_attribute("placeholder", "1")
    expect(speed).to_have_value("")  # the server's own
    tab.get_by_role("button", name="Make the book").click()
    expect(tab.get_by_role("status")).to_have_text("small.md is in the queue.")
    card = tab.locator(".books-jobs > li")
    link = card.get_by_role("link", name="Download A Small Book")
    expect(link).to_be_visible(timeout=PATIENCE)
    expect(card.get_by_role("heading")).to_have_text("A Small Book, A. Nobody")
    (job,) = espeak.get("/v1/jobs")[1]["data"]
    assert job["options"]["format"] == "mp3"
    cast = {"narrator": "", "quotes": "am_adam", "speakers": {'Anna "A" Nobody': "bf_emma"}}
    assert job["options"]["cast"] == cast
    with visit.page.expect_download() as downloading:
        link.click()
    assert downloading.value.suggested_filename == "A Small Book.mp3"
    assert downloading.value.path().read_bytes() == result(espeak, job["id"])[2]
    _is_played(visit, card, espeak.get(f"/v1/jobs/{job['id']}/text")[1]["chapters"])
    visit.axe_finds_nothing()
    card.get_by_role("button", name="Delete A Small Book").click()
    card.get_by_role("button", name="Really delete? A Small Book").click()
    expect(card).to_have_count(0)
    assert espeak.get("/v1/jobs")[1]["data"] == []


def _is_played(visit: Visit, card: Locator, chapters: list[dict[str, object]]) -> None:
    """With its text in time; the second chapter's begins where its list says, and the place is kept."""
    assert [chapter["title"] for chapter in chapters] == ["One", "Two"] and chapters[0]["start"] == 0
    listen = card.get_by_role("button", name="Listen to A Small Book")
    visit.page.evaluate("navigator.mediaSession.setActionHandler = (name, act) => ((window.keys ??= {})[name] = act)")
    visit.page.get_by_role("tab", name="Read").click()
    visit.speak(LONG)
    visit.state("playing")
    visit.page.get_by_role("tab", name="Books").click()
    listen.click()
    visit.wait("() => document.querySelector('.book-player audio')?.currentTime > 0")
    visit.state("paused")
    assert visit.page.evaluate("navigator.mediaSession.metadata.title") == "A Small Book"
    visit.page.evaluate("keys.pause()")
    visit.wait("() => document.querySelector('.book-player audio').paused")
    visit.page.evaluate("keys.nexttrack()")  # plays the next chapter
    visit.wait("() => document.querySelector('.book-player .current').textContent.trim() === 'Two'")
    text = card.get_by_role("region", name="The text as it is read")
    card.get_by_text("Chapters").click()
    card.get_by_role("button", name="Two", exact=True).click()
    expect(text.locator(".current")).to_have_text("Two")
    expect(text).to_contain_text("It ends here.")
    place = visit.page.evaluate("document.querySelector('.book-player audio').currentTime")
    assert float(str(chapters[1]["start"])) <= place < float(str(chapters[1]["start"])) + 60
    text.get_by_text("It ends here.").click()
    expect(text.locator(".current")).to_have_text("It ends here.")
    card.get_by_label("Speed").select_option("2")
    assert visit.page.evaluate("document.querySelector('.book-player audio').playbackRate") == 2
    visit.page.set_viewport_size({"width": 320, "height": 700})
    sound = card.locator("audio").bounding_box()
    assert sound and sound["width"] > 200, "Chromium hides the button to play of a narrower one"
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    card.get_by_role("button", name="Bookmark").click()
    marks = card.get_by_role("navigation", name="Bookmarks")
    marks.get_by_label("Note on It ends here.").fill("The end")
    visit.axe_finds_nothing()
    listen.click()
    expect(card.locator("audio")).to_have_count(0)
    visit.page.get_by_role("tab", name="Read").click()
    visit.page.get_by_role("button", name="Close", exact=True).click()
    visit.page.get_by_role("button", name="A Small Book").first.click()
    expect(marks.get_by_label("Note on It ends here.")).to_have_value("The end")
    text.get_by_text("Two").click()
    marks.get_by_role("button", name="It ends here.").first.click()
    expect(text.locator(".current")).to_have_text("It ends here.")


def test_errors_are_told_in_words(visit: Visit, espeak: Server) -> None:
    visit.excused = 2
    tab = shown(visit)
    tab.get_by_role("button", name="Make the book").click()
    expect(tab.get_by_role("alert")).to_have_text("file is missing: send the book as multipart/form-data.")
    tab.get_by_label("Book", exact=True).set_input_files([{"name": "small.md", "mimeType": "", "buffer": BOOK}])
    tab.get_by_label("Hours").fill("at night")
    tab.get_by_role("button", name="Make the book").click()
    expect(tab.get_by_role("alert")).to_contain_text("write for example 01:00-07:00")
    broken = accepted(espeak, b"PK\x03\x04 not a zip", "broken.epub")
    until(espeak, broken, "failed")
    visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(tab.locator(".books-jobs > li")).to_contain_text("no readable zip archive")
    espeak.post(f"/v1/jobs/{broken}", {}, "DELETE")


def test_a_list_that_cannot_be_renewed_says_so_until_it_can(visit: Visit, espeak: Server) -> None:
    visit.excused = 1
    failed = accepted(espeak, b"PK\x03\x04 not a zip", "broken.epub")
    until(espeak, failed, "failed")
    tab = shown(visit)
    expect(tab.get_by_role("listitem")).to_have_count(1)
    gone = {"status": 503, "content_type": "application/json", "body": '{"error": {"message": "The disk is away."}}'}
    visit.page.route("**/v1/jobs", lambda route: route.fulfill(**gone))
    visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(tab.get_by_role("alert")).to_have_text("This list may be out of date: The disk is away.")
    visit.page.unroute("**/v1/jobs")
    visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(tab.get_by_role("alert")).to_have_count(0)
    espeak.post(f"/v1/jobs/{failed}", {}, "DELETE")


def test_a_dropped_file_is_taken_and_progress_is_shown(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, color_scheme="dark", viewport={"width": 320, "height": 700}) as visit:
        tab = shown(visit)
        tab.locator(".books-drop").evaluate(
            """(zone, text) => {
              const dataTransfer = new DataTransfer();
              dataTransfer.items.add(new File([text], "dropped.txt"));
              zone.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
            }""",
            "A dropped book.",
        )
        tab.get_by_label("Hours").fill(never())
        tab.get_by_role("button", name="Make the book").click()
        card = tab.get_by_role("listitem")
        expect(card).to_contain_text("waiting: it is made in the hours")
        expect(card.get_by_role("progressbar", name="Progress of dropped.txt")).to_have_attribute("max", "1")
        visit.axe_finds_nothing()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
        card.get_by_role("button", name="Cancel dropped.txt").click()
        card.get_by_role("button", name="Really cancel? dropped.txt").click()
        expect(card).to_have_count(0)
        assert espeak.get("/v1/jobs")[1]["data"] == []


def never() -> str:
    """Hours that don't begin within the next ten."""
    from datetime import datetime

    hour = (datetime.now().hour + 12) % 24
    return f"{hour:02}:00-{hour:02}:30"
