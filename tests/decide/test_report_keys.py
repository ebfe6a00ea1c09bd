"""The report in a browser by its keyboard alone, as somebody without a mouse uses it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.decide.browser import Browser, open_browser
from tests.decide.test_report import page

__all__ = ["page"]  # the fixture

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; make test installs it on Debian"),
]  # fmt: skip


@pytest.fixture(scope="module")
def browser(page: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with the page of a small history."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "page.html").write_text(page)
    assert CHROMIUM is not None
    with open_browser(CHROMIUM, folder / "profile") as found:
        found.go((folder / "page.html").as_uri())
        yield found


def _tab_to(browser: Browser, wanted: str) -> None:
    """Press Tab until the element that has the focus matches a selector."""
    browser.evaluate("document.activeElement.blur()")
    for _ in range(400):
        browser.press("Tab")
        if browser.evaluate(f"document.activeElement.matches({wanted!r})"):
            return
    raise AssertionError(f"Tab never comes to {wanted}")


def test_tab_reaches_everything_that_can_be_used_and_the_focus_is_seen(browser: Browser) -> None:
    """Links, buttons, summaries and tables that scroll, each once, each with an outline."""
    everything = "a[href],button,summary,[tabindex='0']"
    usable = browser.evaluate(
        f"[...document.querySelectorAll({everything!r})].filter(e=>e.checkVisibility()).length"
    )
    browser.evaluate("document.activeElement.blur()")
    seen: set[str] = set()
    unseen = []
    for _ in range(usable):
        browser.press("Tab")
        place = browser.evaluate(
            f"String([...document.querySelectorAll({everything!r})].indexOf(document.activeElement))"
        )
        seen.add(place)
        if browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none":
            unseen.append(place)

    assert usable > 20
    assert "-1" not in seen
    assert len(seen) == usable
    assert unseen == []


def test_enter_sorts_a_table_and_tells_the_screen_reader(browser: Browser) -> None:
    """The latency column, up and then down."""
    _tab_to(browser, "table.sort th:nth-child(5) button")
    browser.press("Enter")
    up = browser.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')")
    first = browser.evaluate("document.activeElement.closest('table').tBodies[0].innerText")
    browser.press("Enter")
    down = browser.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')")
    second = browser.evaluate("document.activeElement.closest('table').tBodies[0].innerText")

    assert ("ascending", "descending") == (up, down)
    assert first != second


def test_space_opens_a_fold(browser: Browser) -> None:
    """Provenance is behind a fold: the keyboard opens and closes it."""
    _tab_to(browser, "details:not([open])>summary")
    browser.press(" ")
    opened = browser.evaluate("document.activeElement.parentElement.open")
    browser.press(" ")

    assert opened is True
    assert browser.evaluate("document.activeElement.parentElement.open") is False


def test_enter_on_the_theme_button_turns_the_page_dark(browser: Browser) -> None:
    """And back."""
    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    _tab_to(browser, "#theme")
    browser.press("Enter")
    dark = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.press("Enter")

    assert ("rgb(255, 255, 255)", "rgb(20, 23, 26)") == (light, dark)
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_enter_on_a_link_goes_to_a_run_and_opens_it(browser: Browser) -> None:
    """From a figure to its provenance."""
    _tab_to(browser, "a[href^='#run-']")
    target = browser.evaluate("document.activeElement.getAttribute('href').slice(1)")
    browser.press("Enter")

    assert browser.wait_for(f"location.hash === '#{target}'")
    assert browser.wait_for(f"document.getElementById({target!r}).open")


def test_nothing_complained(browser: Browser) -> None:
    """No exception, no word in the console, in all of the above."""
    assert browser.console == []
