"""A page in a real Chromium without a window, driven by the DevTools protocol through a pipe."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT_S = 60
EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """One page. `errors`: what its console and its exceptions said; `requests`: addresses that it asked for."""

    def __init__(self, commands: int, answers: int) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._commands, self._answers = commands, answers
        self._buffer = b""
        self._number = 0
        self._events: list[str] = []
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        self._events.clear()
        self._call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + LIMIT_S
        while "Page.loadEventFired" not in self._events:
            self._receive(deadline)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression. Fails where it throws."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme: str) -> None:
        """`dark` or `light`."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """All of the page, as PNG."""
        picture = self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        """Ends the browser, which takes what it has laid in /tmp with it; killed, it would leave that there."""
        self._session = None
        self._call("Browser.close")

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT_S
        while (answer := self._receive(deadline)).get("id") != self._number:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"chromium said nothing for {LIMIT_S} s"
            data = os.read(self._answers, 1 << 20)
            assert data, "chromium has ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, parameters: dict[str, Any]) -> None:
        self._events.append(event)
        if event == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(parameters["args"]))
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


@contextlib.contextmanager
def chromium_page(directory: Path) -> Iterator[Page]:
    """A page of a Chromium that keeps its files in `directory`, and is gone afterwards with all its processes."""
    assert EXECUTABLE
    read_commands, commands = os.pipe()
    answers, write_answers = os.pipe()
    command = [EXECUTABLE, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--remote-debugging-pipe", "--disable-background-networking",
               f"--user-data-dir={directory}"]  # fmt: skip
    process = subprocess.Popen(
        # Chromium reads commands from descriptor 3 and answers on 4.
        ["bash", "-c", f'exec 3<&{read_commands} 4>&{write_answers}; exec "$@"', "bash", *command],
        pass_fds=(read_commands, write_answers),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        page = Page(commands, answers)
        yield page
        page.close()
        process.wait(timeout=LIMIT_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=LIMIT_S)
        os.close(commands)
        os.close(answers)
