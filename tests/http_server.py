# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A server of bytes over HTTP, with ranges; what it has at a path is for who derives from it."""

from __future__ import annotations

import contextlib
import http.server
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.has_ranges = True

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


@contextlib.contextmanager
def running(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    @property
    def wanted(self):
        """The range that is asked for, of a server that knows them."""
        return self.headers.get("Range") if self.server.has_ranges else None

    def give(self, data, with_body):
        """All of it, or the range."""
        if self.wanted is None:
            return self.reply(200, data, with_body)
        asked = self.wanted.removeprefix("bytes=").split("-")
        start, stop = (int(n) if n else None for n in asked)
        stop = len(data) if stop is None else min(stop + 1, len(data))
        if start >= len(data):
            return self.reply(416, b"", with_body)
        span = f"bytes {start}-{stop - 1}/{len(data)}"
        return self.reply(206, data[start:stop], with_body, {"Content-Range": span})

    def head(self, status, nbytes, headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(nbytes))
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()

    def reply(self, status, body, with_body, headers=()):
        self.head(status, len(body), headers)
        if with_body:
            self.wfile.write(body)

    def log_message(self, *args):
        pass
