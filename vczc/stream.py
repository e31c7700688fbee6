# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Parts of several arrays along the variants axis, decoded ahead within a budget of memory."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from vczc import _core
from vczc.counts import count_of
from vczc.reading import nthreads_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

    from vczc.group import Group
    from vczc.parts import Field, Ndarray, Part, Plan, Task
    from vczc.regions import Overlap, Regions

# A thread is given about this much to decode at a time: handing it over takes some 20 µs.
_JOB_NBYTES = 1 << 20
_MAX_JOB_PARTS = 64

_MEMORY = r"\s*(\d{1,300})(?:\.(\d{1,300}))?\s*([KMGT]?)(i?)B?\s*"


def stream(
    root: Group,
    fields: str | Iterable[str] | None = None,
    *,
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    memory: int | str = "256 MiB",
    threads: int | None = None,
    reuse: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Stream:
    """Iterate over variants: each part maps the names of `fields` to their rows.

    A part is what one chunk holds (of the field whose chunks are largest), and has `start`, `stop`
    and `index`, the numbers of its rows. Without `fields` all arrays with the variants axis are
    read; an array without it is refused.

    `region` and `overlap` are as for `vczc.region`. `variants` is a slice, row numbers or a mask;
    row numbers are taken in the order that they are given in. `samples` are ids, indexes or a mask,
    in the order wanted. Only what is needed of each chunk is decoded.

    Up to `threads` threads decode at a time (by default as many as `vczc.set_threads` says), the
    calling one among them while it waits, and they keep ahead of it within `memory`, which is a
    number of bytes or a text such as "1 GiB". With `reuse=True` a part is valid until the next one
    is asked for: its memory is then used again. A stream is for one thread, and refuses a second;
    it is read once, and refuses another loop at its end. Its threads end with it, or with
    `close()`, which any thread may call.

    `len` of a stream is the number of its parts, as tqdm and its like ask for. `progress` is called
    when the loop has done with a part: with the rows that are done, and the rows of all parts.
    """
    from vczc.asked import make_plan  # which loads regions and ids

    _check_function(progress)
    plan = make_plan(root, fields, region, overlap, variants, samples)
    nthreads = nthreads_of(threads) or _core.get_threads()
    return Stream(plan, nbytes_of(memory), nthreads, reuse, progress)


class Stream:
    """An iterator of parts, made by `vczc.stream`."""

    _executor: ThreadPoolExecutor | None = None
    _pid = 0
    _is_ended = False
    _has_workers = True

    def __init__(
        self,
        plan: Plan,
        memory: int,
        threads: int,
        reuse: bool,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self._plan = plan
        self._progress = progress
        self._nrows_done = 0
        self._tasks: Iterator[Task] = iter(plan)
        self._memory = memory
        self._threads = threads
        self._reuse = reuse
        self._pending: deque[_Job] = deque()
        self._ready: deque[tuple[Task, Part]] = deque()
        self._given: Task | None = None
        self._free: list[dict[str, Ndarray | None]] = []
        self._pid = os.getpid()
        self._lock = threading.Lock()  # held while a part is asked for; nobody waits for it

    def __len__(self) -> int:
        """All parts, those that were given included."""
        return self._plan.nparts

    def __iter__(self) -> Self:
        if self._is_ended:
            msg = "this stream was read to its end, or closed: make another with vczc.stream"
            raise ValueError(msg)
        return self

    def __next__(self) -> Part:
        if self._pid != os.getpid():
            self._after_fork()
        if not self._lock.acquire(blocking=False):
            msg = "this stream is being read already, and it is for one thread: make one for each"
            raise ValueError(msg)
        try:
            part = self._take_next()
            if self._is_ended:  # another thread closed it meanwhile
                raise StopIteration
        except BaseException:  # StopIteration too
            self._end()
            raise
        finally:
            self._lock.release()
        return part

    def close(self) -> None:
        """Stop decoding: there are no more parts. Those that were given stay valid."""
        self._is_ended = True
        if self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()
        # Else who reads it, or `progress` that it calls, sees that it is to end.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Whichever thread this is, it may be one of the workers: they are not waited for.
        if self._executor is not None and self._pid == os.getpid():
            self._executor.shutdown(wait=False, cancel_futures=True)

    def __repr__(self) -> str:
        return f"<vczc.Stream of {', '.join(self._plan.fields)}>"

    def _take_next(self) -> Part:
        self._take_back()
        if not self._ready:
            self._ready.extend(self._next_job())
        self._given, part = self._ready.popleft()
        return part

    def _end(self) -> None:
        """With the lock held."""
        self._is_ended = True
        executor, self._executor = self._executor, None
        self._tasks = iter(())
        self._ready.clear()
        if executor is not None and self._pid == os.getpid():
            executor.shutdown(wait=True, cancel_futures=True)
        self._pending.clear()

    def _take_back(self) -> None:
        """The loop has done with the part that it was given."""
        given, self._given = self._given, None
        if given is None:
            return
        if given.buffers is not None:
            self._free.append(given.buffers)
        if self._progress is not None:
            self._nrows_done += len(given.rows)
            self._progress(self._nrows_done, self._plan.nrows)

    # What is decoded ahead

    def _next_job(self) -> Iterable[tuple[Task, Part]]:
        if not self._is_ended:
            self._fill()
        if not self._pending:
            raise StopIteration
        job = self._pending[0]
        if job.is_claimed():
            job.run()
        elif not job.is_done():
            for other in islice(self._pending, 1, None):  # help rather than wait
                if other.is_claimed():
                    other.run()
                if job.is_done():
                    break
        self._pending.popleft()
        return job.result()

    def _fill(self) -> None:
        """Plan as many jobs as the memory holds beside the part that is being used."""
        part_nbytes = max(1, self._plan.part_nbytes())
        nparts = limit = 1
        if self._threads > 1:
            room = max(0, self._memory - self._plan.carried_nbytes())
            most = 2 * self._threads
            worth = _JOB_NBYTES // max(part_nbytes, self._plan.decoded_nbytes())
            nparts = max(1, min(worth, room // most // part_nbytes, _MAX_JOB_PARTS))
            job_nbytes = nparts * part_nbytes + self._plan.scratch_nbytes()
            limit = max(1, min(room // job_nbytes, most))
        while len(self._pending) < limit:
            tasks = list(islice(self._tasks, nparts))
            if not tasks:
                break
            if self._reuse:
                for task in tasks:
                    task.buffers = self._free.pop() if self._free else self._buffers()
            self._pending.append(_Job(tasks, self._plan.fields))
        threads = max(1, self._threads // max(1, len(self._pending)))
        for job in self._pending:
            job.threads = threads
        if len(self._pending) > 1 and self._has_workers:
            try:
                self._submit()
            except RuntimeError:
                # No thread starts: the interpreter ends, or the system is full.
                self._go_on_alone()

    def _buffers(self) -> dict[str, Ndarray | None]:
        return {name: f.buffer(self._plan.length) for name, f in self._plan.fields.items()}

    def _submit(self) -> None:
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor  # not loaded with the package

            self._executor = ThreadPoolExecutor(self._threads - 1, "vczc-stream")
        for job in self._pending:
            if job.future is None and not job.is_done():
                job.future = self._executor.submit(job.run)

    def _go_on_alone(self) -> None:
        """Whoever asks for parts decodes them, once the workers that there are have ended."""
        self._has_workers = False
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def _after_fork(self) -> None:
        """The workers are not in the child: what they had begun is begun again."""
        self._pid = os.getpid()
        self._lock = threading.Lock()  # another thread may have held it
        self._executor = None
        self._plan.renew_cells()
        for job in self._pending:
            job.forget_worker()


class _Job:
    """Some parts that one thread reads one after another."""

    __slots__ = ("_error", "_fields", "_parts", "_tasks", "future", "threads")

    def __init__(self, tasks: list[Task], fields: dict[str, Field]) -> None:
        self._tasks = tasks
        self._fields = fields
        self._parts: list[Part] | None = None
        self._error: BaseException | None = None
        self.future: Future[None] | None = None
        self.threads = 1

    def run(self) -> None:
        try:
            self._parts = [task.run(self._fields, self.threads) for task in self._tasks]
        except Exception as err:
            self._error = err

    def is_done(self) -> bool:
        return self._parts is not None or self._error is not None

    def is_claimed(self) -> bool:
        """True if no worker has begun it, and now none will."""
        if self.is_done():
            return False
        return self.future is None or self.future.cancel()

    def result(self) -> Iterable[tuple[Task, Part]]:
        if self.future is not None and not self.future.cancelled():
            self.future.result()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        assert self._parts is not None
        return zip(self._tasks, self._parts, strict=True)

    def forget_worker(self) -> None:
        self.future = None
        for task in self._tasks:
            for cells in task.cells.values():
                for cell in cells:
                    cell.renew()


def _check_function(progress: object) -> None:
    if progress is not None and not callable(progress):
        msg = f"progress is a function of two numbers, not {type(progress).__name__}"
        raise TypeError(msg)


def nbytes_of(memory: int | str) -> int:
    if isinstance(memory, str):
        match = re.fullmatch(_MEMORY, memory, re.IGNORECASE)
        if match is None:
            msg = f"memory is a number of bytes, or a text such as '256 MiB', not {memory[:80]!r}"
            raise ValueError(msg)
        unit = (1024 if match[4] else 1000) ** " KMGT".index(match[3].upper() or " ")
        part = match[2] or ""
        memory = int(match[1] + part) * unit // 10 ** len(part)
    return min(count_of(memory, 0, 1 << 4096, "memory", "a number of bytes"), sys.maxsize)
