"""Drives the page for browsers in headless Chromium, as a person does: files are chosen, buttons pressed, results read.

    python3 tests/web/drive.py target/offnominal.html --press inspect --files run*.csv
    python3 tests/web/drive.py target/offnominal.html --press score --files tanks.monitor leak.csv --save steps.csv

It prints one JSON object: the state of the page, what it says, the seconds that the module took and those that passed from
the press of the button to the result, the processor time of the whole browser from start to end, and every request of the
page, of which there must be none.
It speaks the protocol of Chromium's developer tools over two pipes, so it needs nothing but Python and the browser.
"""

import argparse
import atexit
import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
OPTIONS += ("--disable-component-update", "--disable-sync", "--remote-debugging-pipe")


class Browser:
    """A browser, and one page in it."""

    def __init__(self, page, profile):
        name = next(filter(None, map(shutil.which, NAMES)), None)
        if name is None:
            sys.exit(f"drive: none of {', '.join(NAMES)} is installed")
        # It reads from the descriptor 3 and writes to 4, which the ends of these pipes become in its process.
        (hears, self.to), (self.get, says) = os.pipe(), os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (hears, says)]
        become = lambda: [os.dup2(end, number) for end, number in zip(high, (3, 4))]
        command = [name, *OPTIONS, f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, preexec_fn=become, pass_fds=(3, 4), **quiet)
        for end in (hears, says, *high):
            os.close(end)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=page.resolve().as_uri())

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            some = os.read(self.get, 1 << 20)
            if not some:
                sys.exit("drive: the browser has ended")
            self.buffer += some
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        """What a method of the protocol returns; events that come before it are kept."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            sys.exit(f"drive: {method}: {answer['error']['message']}")
        return answer["result"]

    def value(self, expression):
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            sys.exit(f"drive: {expression}: {found['exceptionDetails']['exception'].get('description')}")
        return found["result"].get("value")

    def until(self, expression, secs):
        """Waits until an expression holds; what it is then."""
        end = time.monotonic() + secs
        while not (found := self.value(expression)):
            if time.monotonic() > end:
                sys.exit(f"drive: after {secs} s: expected {expression}, found {self.value('document.body.innerText')}")
            time.sleep(0.02)
        return found

    def choose(self, files):
        """Hands files to the page."""
        found = self.call("Runtime.evaluate", expression='document.getElementById("files")')
        names = [str(file.resolve()) for file in files]
        self.call("DOM.setFileInputFiles", files=names, objectId=found["result"]["objectId"])

    def told(self):
        """Requests that the page has made, and what the console says."""
        of = lambda method: [e["params"] for e in self.events if e.get("method") == method]
        urls = [sent["request"]["url"] for sent in of("Network.requestWillBeSent")]
        said = [entry["entry"]["text"] for entry in of("Log.entryAdded")]
        return urls, said + [thrown["exceptionDetails"]["text"] for thrown in of("Runtime.exceptionThrown")]

    def close(self):
        """Ends the browser."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def processor_secs(ancestor):
    """Processor time of a process and all that it has started, on Linux; nothing elsewhere."""
    parents, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # It has ended.
            continue
        parents[int(stat.parent.name)], ticks[int(stat.parent.name)] = int(fields[1]), sum(map(int, fields[11:13]))
    family = {ancestor}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return round(sum(ticks.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK"), 2) if ticks else None


def downloaded(browser, name):
    """The content of a file that the page offers."""
    script = f"""new Promise((done) => {{
      const link = [...document.querySelectorAll("#downloads a")].find((a) => a.download === {json.dumps(name)});
      const reader = new FileReader();
      reader.onload = () => done(reader.result.split(",")[1]);
      reader.readAsDataURL(link.blob);
    }})"""
    return base64.b64decode(browser.value(script))


def press(browser, button, options):
    """Presses a button, waits for what comes of it, and says what the page shows then."""
    begun = time.monotonic()
    browser.value(f'document.getElementById("{button}").click()')
    state = browser.until('["done", "failed"].find((state) => state === document.body.dataset.state)', options.seconds)
    took = time.monotonic() - begun
    text = browser.value(
        'document.getElementById(document.body.dataset.state === "done" ? "text" : "state").textContent'
    )
    secs = browser.value("Number(document.body.dataset.secs)") if state == "done" else None
    return {"pressed": button, "state": state, "text": text, "module_secs": secs, "secs": round(took, 3)}


def main():
    parser = argparse.ArgumentParser(description="Drives the page for browsers in headless Chromium.")
    parser.add_argument("page", type=Path, help="the page that packaging/web.py wrote")
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="logs, and perhaps a monitor")
    parser.add_argument("--anomalous", nargs="*", default=[], help="names of the logs that are not nominal")
    parser.add_argument("--set", nargs="*", default=[], metavar="ID=VALUE", help="what stands in fields of the page")
    parser.add_argument("--press", nargs="+", default=["score"], help="the buttons that are pressed, in this order")
    parser.add_argument("--save", nargs="*", type=Path, default=[], help="files that the page offers at the end")
    parser.add_argument("--seconds", type=float, default=300, help="how long one result is waited for")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(options.page, profile)
        atexit.register(browser.close)
        browser.until('document.readyState === "complete" && document.body.dataset.state', 60)
        browser.choose(options.files)
        browser.until(f"chosen.logs.length + (chosen.monitor ? 1 : 0) === {len(options.files)}", 10)
        for name in options.anomalous:
            browser.value(f'document.querySelector("input[aria-label=\\"{name} is nominal\\"]").click()')
        for field in options.set:
            name, value = field.split("=", 1)
            browser.value(f"document.getElementById({json.dumps(name)}).value = {json.dumps(value)}")
        pressed = [press(browser, button, options) for button in options.press]
        for file in options.save if pressed[-1]["state"] == "done" else ():
            file.write_bytes(downloaded(browser, file.name))
        requests, console = browser.told()
        spent = processor_secs(browser.process.pid)
        browser.close()
    page = options.page.resolve().as_uri()
    others = [url for url in requests if url != page and not url.startswith(("data:", "blob:", "about:"))]
    told = {"pressed": pressed, "processor_secs": spent}
    print(json.dumps(told | {"requests": others, "console": console}, indent=1))


if __name__ == "__main__":
    main()
