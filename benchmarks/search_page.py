"""The page of `vse-zoo serve` under many clients: answers by status, and how long they took.

    python benchmarks/search_page.py INDEX [--clients 50] [--seconds 60]

The server is a process of its own. Each client asks one thing after another: sentences in two languages, thumbnails,
explanations and pictures; one upload in three is broken. Nothing but 200 and 4xx should come back, for a broken upload
400, and at the end the server should answer as at the beginning: otherwise the exit status is not 0.
"""

from __future__ import annotations

import argparse
import http.client
import io
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
from PIL import Image

QUERIES = [
    *("a dog on the beach", "two girls in pink dresses", "a man climbing a rock", "children play football"),
    *("ein Hund am Strand", "zwei Mädchen in rosa Kleidern", "ein Mann klettert", "zebra", "Leute auf der Straße"),
]
BOUNDARY = "vse-zoo-benchmark"


def picture() -> bytes:
    stream = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (12, 16, 3)).astype(np.uint8)
    Image.fromarray(noise).resize((1600, 1200), Image.Resampling.BICUBIC).save(stream, "JPEG")
    return stream.getvalue()


def upload(content: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="picture"; filename="p.jpg"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class Client:
    """Asks until the time is over; what came back, by kind of question."""

    def __init__(self, address: str, number: int, until: float, uploads: list[bytes]) -> None:
        self.address, self.number, self.until, self.uploads = address, number, until, uploads
        self.answers: list[tuple[str, int, float]] = []
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def run(self) -> None:
        photo = 1
        for turn in itertools.count(self.number):
            if time.monotonic() > self.until:
                return
            query = quote(QUERIES[turn % len(QUERIES)])
            if turn % 4 == 0:
                content = self.uploads[turn // 4 % len(self.uploads)]
                kind = "upload" if content == self.uploads[0] else "broken"
                self.ask(kind, "POST", "/api/search?k=30", content)
            elif turn % 4 == 1:
                self.ask("explain", "GET", f"/api/explain?photo={photo}&q={query}")
            elif turn % 4 == 2:
                body = self.ask("search", "GET", f"/api/search?k=30&q={query}")
                found = json.loads(body).get("results") if body else None
                photo = found[turn % len(found)]["id"] if found else photo
            else:
                self.ask("thumbnail", "GET", f"/api/thumbnail/{photo}")

    def ask(self, kind: str, method: str, path: str, content: bytes | None = None) -> bytes:
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} if content is not None else {}
        began, status, body = time.monotonic(), 0, b""
        try:
            self.connection.request(method, path, content, headers)
            answer = self.connection.getresponse()
            status, body = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()  # a new one is made for the next question; 0 is no answer
        self.answers.append((kind, status, time.monotonic() - began))
        return body


def measure(address: str, clients: int, seconds: float) -> list[tuple[str, int, float]]:
    good = picture()
    broken = [upload(good[: len(good) // 3]), upload(b"no picture"), b"no form"]
    uploads = [each for bad in broken for each in (upload(good), upload(good), bad)]
    until = time.monotonic() + seconds
    asking = [Client(address, number, until, uploads) for number in range(clients)]
    threads = [threading.Thread(target=client.run) for client in asking]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answer for client in asking for answer in client.answers]


def show(answers: list[tuple[str, int, float]], seconds: float) -> None:
    by_kind: dict[str, list[float]] = defaultdict(list)
    for kind, _, took in answers:
        by_kind[kind].append(1000 * took)
    print(f"{'':10} {'answers':>8} {'a second':>9} {'p50 ms':>8} {'p95 ms':>8} {'max ms':>8}")
    for kind, times in [*sorted(by_kind.items()), ("all", [1000 * took for _, _, took in answers])]:
        middle, most = np.percentile(times, [50, 95])
        print(f"{kind:10} {len(times):8} {len(times) / seconds:9.1f} {middle:8.0f} {most:8.0f} {max(times):8.0f}")
    found = sorted(Counter((kind, status) for kind, status, _ in answers).items())
    print("status:", ", ".join(f"{kind} {status or 'none'}: {count}" for (kind, status), count in found))


@contextmanager
def serving(index: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process and its address."""
    command = [sys.executable, "-u", "-c", "from vse_zoo.cli import run; run()", "serve", index, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = next((found[0] for line in server.stdout if (found := re.findall(r"http://\S+", line))), None)
            if address is None:
                sys.exit("the server didn't start")
            yield server, urlsplit(address).netloc
        finally:
            server.terminate()


def memory(server: subprocess.Popen[str], name: str) -> float:
    """MiB of a process: VmRSS, what it holds now, or VmHWM, the most that it ever held."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.findall(rf"{name}:\s+(\d+) kB", status)[0]) / 1024


def computed(server: subprocess.Popen[str]) -> float:
    """Seconds that a process's threads computed until now; where others compute too, it waits for the rest."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def is_wrong(kind: str, status: int) -> bool:
    if kind == "broken":
        return status not in (400, 429)
    return status == 0 or status >= 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with serving(options.index) as (server, address):
        before, busy, began = memory(server, "VmRSS"), computed(server), time.monotonic()
        answers = measure(address, options.clients, options.seconds)
        took = time.monotonic() - began  # until the last answer
        show(answers, took)
        if server.poll() is not None:
            sys.exit("the server ended")
        print(f"processor time of the server: {computed(server) - busy:.1f} s of {took:.1f} s")
        after, most = memory(server, "VmRSS"), memory(server, "VmHWM")
        print(f"memory of the server: {before:.0f} MiB before, {after:.0f} MiB after, {most:.0f} MiB at most")
        last = Client(address, 0, 0, [])
        last.ask("search", "GET", f"/api/search?q={quote(QUERIES[0])}")
    bad = sum(is_wrong(kind, status) for kind, status, _ in answers)
    if bad or last.answers[0][1] != 200:
        sys.exit(f"{bad} answers are wrong (none, 5xx, or a broken upload taken); at the end {last.answers[0][1]}")


if __name__ == "__main__":
    main()
