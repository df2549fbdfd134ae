"""The page of `vse-zoo serve` under many clients: answers by status, and how long they took.

    python benchmarks/search_page.py INDEX [--clients 50] [--seconds 60]

The server is a process of its own. Each client asks one thing after another: sentences in two languages, thumbnails,
explanations and pictures; one upload in three is broken. Nothing but 200 and 4xx should come back.
"""

from __future__ import annotations

import argparse
import http.client
import io
import itertools
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
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
                self.ask("upload", "POST", "/api/search?k=30", self.uploads[turn // 4 % len(self.uploads)])
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
    statuses = sorted(count_statuses(answers).items())
    print("status:", ", ".join(f"{status or 'none'}: {count}" for status, count in statuses))


def count_statuses(answers: list[tuple[str, int, float]]) -> Counter[int]:
    return Counter(status for _, status, _ in answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    command = [sys.executable, "-u", "-c", "from vse_zoo.cli import run; run()", "serve", options.index, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(found[0] for line in server.stdout if (found := re.findall(r"http://\S+", line)))
            began = time.monotonic()
            answers = measure(urlsplit(address).netloc, options.clients, options.seconds)
            took = time.monotonic() - began  # until the last answer
            assert server.poll() is None, "the server ended"
        finally:
            server.terminate()
    show(answers, took)
    bad = sum(count for status, count in count_statuses(answers).items() if status == 0 or status >= 500)
    sys.exit(f"{bad} without an answer, or 5xx" if bad else 0)


if __name__ == "__main__":
    main()
