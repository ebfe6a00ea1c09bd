"""Chromium by its DevTools pipe: evaluate, press keys, take pictures (chromedevtools.github.io/devtools-protocol)."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_DEADLINE_S = 60.0


class Browser:
    """One page of a Chromium that was started with --remote-debugging-pipe."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._session: str | None = None
        self._last = 0
        self.console: list[str] = []

    def attach(self) -> None:
        """Attach to the first page; its console is heard from now on."""
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(p["targetId"] for p in pages if p["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command and return its result; raises AssertionError on a refusal or after a minute."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _DEADLINE_S
        while time.monotonic() < end:
            answer = self._next(end)
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}:  # fmt: skip
                self.console.append(json.dumps(answer["params"])[:400])
        raise AssertionError(f"no answer to {method}")

    def _next(self, end: float) -> Any:
        while b"\0" not in self._buffer:
            assert select.select([self._from], [], [], max(0.0, end - time.monotonic()))[0], "the browser is silent"  # fmt: skip
            chunk = os.read(self._from, 1 << 16)
            assert chunk, "the browser is gone"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> bool:
        """Wait until a JavaScript expression is true, at most ten seconds; return whether it became so."""
        end = time.monotonic() + 10.0
        while time.monotonic() < end:
            if self.evaluate(expression) is True:
                return True
            time.sleep(0.02)
        return False

    def go(self, url: str) -> None:
        """Open a page and wait until it is loaded."""
        self.call("Page.navigate", url=url)
        end = time.monotonic() + _DEADLINE_S
        while self.evaluate("document.readyState + location.href") != f"complete{url}":
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key as a keyboard does: Tab, Enter, ArrowRight or a character."""
        code = {"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39}.get(key, ord(key[0]))
        text = {"Enter": "\r", " ": " "}.get(key, "")
        down = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path) -> None:
        """Write the window as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def open_browser(chromium: str, profile: Path, size: str = "1280,900") -> Iterator[Browser]:
    """Start Chromium without a window; it ends with the block."""
    read_commands, to_browser = os.pipe()
    from_browser, write_answers = os.pipe()
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-component-update", "--remote-debugging-pipe"]  # fmt: skip
    # Chromium reads commands from descriptor 3 and answers on 4: a shell puts them there
    script = f'exec "$@" 3<&{read_commands} 4>&{write_answers}'
    command = [chromium, *flags, f"--window-size={size}", f"--user-data-dir={profile}", "about:blank"]  # fmt: skip
    child = subprocess.Popen(
        ["bash", "-c", script, "chromium", *command],
        pass_fds=(read_commands, write_answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(read_commands)
    os.close(write_answers)
    try:
        browser = Browser(to_browser, from_browser)
        browser.attach()
        yield browser
    finally:
        child.kill()
        child.wait()
        os.close(to_browser)
        os.close(from_browser)
