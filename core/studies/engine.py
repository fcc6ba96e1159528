"""run(study): the supervisor. Hands runs to Dask workers, writes down what comes back, and survives what can go wrong.

One supervisor per study, held by a lock. It is the only writer of the study's folder; workers return values and stream their
progress through a Dask topic. Killed at any moment, the next one goes on where the results on disk end.
"""

import contextlib
import os
import queue
import re
import secrets
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from core.studies import requests
from core.studies.lock import lock
from core.studies.names import StudyError, cannot_write
from core.studies.progress import Active, seconds_left
from core.studies.state import StudyState
from core.studies.store import Store
from core.studies.study import StudySpec
from core.studies.trained import TRAIN_RUN
from core.studies.writer import CannotWrite, StudyWriter
from core.training.spec import RunSpec

TRIES = 3  # attempts at one run before it is recorded as failed
HEARTBEAT = 2.0  # seconds between signs of life in state.json
TICK = 0.2  # seconds between looks at requests
STOP_GRACE = 60.0  # seconds for running runs to end their batch after a stop
LOST_AFTER = 60.0  # seconds without the scheduler before the study is given up
MEANT_FOR_PEOPLE = re.compile(r"(core\.[\w.]+|ValueError): ")  # kinds of error whose words say all; others are named

Event = dict[str, Any]
OnEvent = Callable[[Event], None]


def run(
    study: StudySpec,
    store: Store | str | Path,
    scheduler: str | None = None,
    workers: int | None = None,
    on_event: OnEvent | None = None,
    run_function: str = TRAIN_RUN,
    since: float | None = None,
) -> StudyState:
    """Run a study to its end, or until it is stopped; finished runs are never run again, failed ones are.

    Args:
        study: The study.
        store: Where results go; a store or its folder, made if missing.
        scheduler: Address of a Dask scheduler; None starts worker processes on this machine.
        workers: Runs at the same time on this machine; None for one per core.
        on_event: Told what happens, in this thread: {"kind": "plan"}, then per run {"kind": "begin" | "step" | "epoch" |
            "retry" | "stopped" | "end", "run_id", "label", ...}.
        run_function: What does one run, "package.module:name", called as `core.training.loop.train_run` is.
        since: Seconds since 1970; older requests to stop were meant for an earlier supervisor. None is now.

    Returns:
        The state at the end: finished, stopped, or failed with a message.

    Raises:
        StudyError: If nothing could begin: another supervisor holds the study, the folder cannot be written, or the scheduler
            does not answer.
    """
    store = store if isinstance(store, Store) else Store(store)
    folder = store.folder(study.name)
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(lock(folder))
        except OSError as error:
            raise StudyError(cannot_write(store.root, error)) from None
        supervisor = Supervisor(study, store, held, on_event or (lambda event: None), run_function, since or time.time())
        return supervisor.work(scheduler, workers)


def aside(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Call something that may wait for the network, without holding up the signs of life, nor the end of the process."""

    def call() -> None:
        with contextlib.suppress(Exception):  # what it is about shows in the client's status, or in no answer
            function(*arguments, **options)

    threading.Thread(target=call, name="aside", daemon=True).start()


class Lost(Exception):
    """The scheduler is gone. The text is for people."""


class Supervisor:
    """The state of a study at work. Everything but fetching results happens in one thread."""

    def __init__(
        self, study: StudySpec, store: Store, held: Path, on_event: OnEvent, run_function: str, since: float
    ) -> None:
        self.study, self.store, self.held, self.on_event, self.run_function = study, store, held, on_event, run_function
        self.writer = StudyWriter(store, study)
        self.token = secrets.token_hex(8)
        self.since = since
        self.inbox: queue.SimpleQueue[tuple] = queue.SimpleQueue()
        self.waiting: deque[RunSpec] = deque()
        self.known: dict[str, Active] = {}  # every run handed out in this session
        self.futures: dict[str, Any] = {}  # run_id -> Dask future, of the runs that are out now
        self.timed: list[tuple[RunSpec, float]] = []
        self.slots = 0  # runs at the same time
        self.signals = 0
        self.stopping_since: float | None = None
        self.next_beat = self.next_nudge = 0.0
        self.silent_since: float | None = None

    # From start to end

    def work(self, scheduler: str | None, workers: int | None) -> StudyState:
        """Do the study; see `run`."""
        try:
            self.plan()
        except CannotWrite as error:
            raise StudyError(str(error)) from None
        try:
            with self.signals_heard():
                if self.waiting:
                    self.supervise(scheduler, workers)
                self.finish()
        except (CannotWrite, Lost) as error:
            return self.give_up(str(error))
        except BaseException as error:
            self.give_up(str(error) or type(error).__name__)
            raise
        finally:
            self.writer.close()
        return self.store.state(self.study.name)

    def plan(self) -> None:
        """Find out what is left to do, and say so on disk before Dask is imported, which takes a second."""
        done = self.writer.open()
        runs = self.study.expand()
        self.total = len({row["run_id"] for row in self.store.ended_rows(self.study.name)} | {run.run_id for run in runs})
        self.waiting.extend(run for run in runs if run.run_id not in done)
        rows = self.store.ended_rows(self.study.name)
        self.timed = [(RunSpec(**row["spec"]), seconds) for row in rows if (seconds := row["result"].get("seconds"))]
        self.beat()
        self.tell({"kind": "plan", "study": self.study.name, "total": self.total, "left": len(self.waiting)})

    def supervise(self, scheduler: str | None, workers: int | None) -> None:
        """Hand out runs and take in results until nothing is left, or a stop."""
        from core.studies import cluster

        gpus = cluster.gpus() if all(run.device in ("auto", "cuda") for run in self.waiting) else []
        count = max(1, min(workers or cluster.places(gpus), len(self.waiting)))
        with cluster.connect(scheduler, count, TRIES, gpus) as self.client:
            self.remote, self.slots = scheduler, count
            if scheduler:
                self.count_slots()
            self.topic = f"contrastive-lens-{self.token}"
            self.client.subscribe_topic(self.topic, lambda event: self.inbox.put(("progress", event[1])))
            while self.futures or (self.waiting and self.stopping_since is None):
                self.look_at_requests()
                self.hand_out()
                self.take_in()
                if time.monotonic() >= self.next_beat:
                    self.beat()
                    if scheduler:
                        aside(self.count_slots)
                self.check_scheduler()
                if self.stopping_since is not None and self.nudge():
                    break

    def finish(self) -> None:
        """Write the final state."""
        self.look_at_requests()
        rows = self.store.ended_rows(self.study.name)
        failed = [row for row in rows if row["result"].get("status") == "failed"]
        if self.waiting or self.futures:
            self.beat("stopped", "Running it again goes on from there.")
        elif failed and len(failed) == len(rows):
            error = failed[0]["result"].get("error")
            said = "The only run failed" if len(rows) == 1 else f"All {len(rows)} runs failed; the first"
            self.beat("failed", f"{said} with: {error}")
        else:
            self.beat("finished", f"{len(failed)} of {self.total} runs failed; their logs say why." if failed else "")

    def give_up(self, message: str) -> StudyState:
        """Leave a state that says why, even on a full disk: the reserve makes room for it."""
        self.writer.close()
        with contextlib.suppress(CannotWrite):
            self.beat("failed", message)
        return self.store.state(self.study.name)._replace(status="failed", message=message)

    # Handing out

    def hand_out(self) -> None:
        """Keep as many runs out as there are places; on a cluster some more, so that it sees what it could grow for."""
        if self.stopping_since is not None or self.client.status != "running":
            return
        window = 2 * self.slots + 4 if self.remote else self.slots
        while self.waiting and len(self.futures) < window:
            self.submit(self.waiting.popleft())

    def count_slots(self) -> None:
        """Ask a cluster how many runs it can do at the same time; it may grow and shrink."""
        with contextlib.suppress(Exception):  # one that does not answer just now is seen by `check_scheduler`
            self.slots = sum(self.client.nthreads().values())

    def submit(self, run: RunSpec) -> None:
        """Hand one run to Dask."""
        from core.studies.worker import execute

        one = self.known.setdefault(run.run_id, Active(run, self.study.label_of(run)))
        one.submit()
        future = self.client.submit(
            execute,
            run.changed(),
            one.attempt,
            self.run_function,
            self.topic,
            self.token,
            key=f"run-{run.run_id}-{self.token}-{one.submissions}",
            pure=False,
        )
        self.futures[run.run_id] = future
        future.add_done_callback(lambda done: aside(self.fetch, run.run_id, done))

    def fetch(self, run_id: str, future: Any) -> None:
        """Bring a result here, in a thread of its own: it may be large, or gone with its worker and computed again."""
        try:
            if future.status == "cancelled":  # waiting for its result could take for ever
                raise CancelledError
            self.inbox.put(("outcome", run_id, future, future.result()))
        except BaseException as error:
            self.inbox.put(("lost", run_id, future, error))

    # Taking in

    def take_in(self) -> None:
        """Wait a moment for news and act on it; a flood of news must not hold up requests and signs of life."""
        until = time.monotonic() + TICK
        with contextlib.suppress(queue.Empty):
            kind, *news = self.inbox.get(timeout=TICK)
            while True:
                getattr(self, f"on_{kind}")(*news)
                if time.monotonic() > until:
                    return
                kind, *news = self.inbox.get_nowait()

    def on_progress(self, record: Event) -> None:
        """A worker has begun a run, or tells how far it is. Records of executions that were given up are dropped."""
        run_id = record.get("run_id", "")
        if run_id not in self.futures:
            return
        one, execution = self.known[run_id], record.pop("execution")
        if record.get("kind") == "begin":
            self.begin(one, execution)
        elif execution == one.execution:
            one.advance(record)
            if record.get("kind") == "epoch":
                self.writer.epoch(run_id, one.attempt, {key: value for key, value in record.items() if key != "run_id"})
            self.report(one, record)

    def begin(self, one: Active, execution: str) -> None:
        """A worker has begun this run; if another had, that one has died."""
        attempt = self.writer.begin(one.run)
        if one.execution:
            self.writer.log(one.run.run_id, f"The worker of attempt {one.attempt} ended without a result; the run begins again.")
            self.report(one, {"kind": "retry", "error": "its worker ended without a result"})
        one.begin(execution, max(attempt, one.attempt + (1 if one.tries else 0)))
        self.report(one, {"kind": "begin"})

    def on_outcome(self, run_id: str, future: Any, outcome: Any) -> None:
        """A run has come back."""
        if self.futures.get(run_id) is not future:
            return
        del self.futures[run_id]
        one = self.known[run_id]
        if outcome.execution != one.execution:  # its first record was lost, or is late
            self.begin(one, outcome.execution)
        if outcome.trained is None:
            self.try_again(one, outcome.error)
        elif outcome.trained.result["status"] == "stopped":
            self.waiting.append(one.run)
            self.report(one, {"kind": "stopped"})
        else:
            row = self.writer.end(one.run, one.attempt, outcome.trained)
            self.timed.append((one.run, row["result"]["seconds"]))
            self.report(one, {"kind": "end", "result": row["result"]})

    def on_lost(self, run_id: str, future: Any, error: BaseException) -> None:
        """A run has not come back: cancelled, or its workers died too often."""
        if self.futures.get(run_id) is not future:
            return
        del self.futures[run_id]
        one = self.known[run_id]
        if self.stopping_since is not None or self.client.status != "running":
            self.waiting.append(one.run)
            return
        died = type(error).__name__ == "KilledWorker"
        self.writer.begin(one.run)
        self.try_again(one, "Its worker process died each time; perhaps it needs more memory." if died else repr(error))

    def try_again(self, one: Active, error: str) -> None:
        """Hand a failed run out once more, or record it as failed."""
        run_id, last = one.run.run_id, error.strip().splitlines()[-1]
        if known := MEANT_FOR_PEOPLE.match(last):
            last = last[known.end() :]
        self.writer.log(run_id, f"Attempt {one.attempt} failed.\n{error}")
        if max(one.tries, one.submissions) < TRIES:
            self.waiting.appendleft(one.run)
            self.report(one, {"kind": "retry", "error": last})
        else:
            row = self.writer.fail(one.run, one.attempt, last)
            self.report(one, {"kind": "end", "result": row["result"]})

    def report(self, one: Active, record: Event) -> None:
        """Tell the caller about one run."""
        self.tell({**one.facts(), **record, "run_id": one.run.run_id})

    def tell(self, event: Event) -> None:
        """Tell the caller. One whose screen is gone or whose log is full is told no more; the study goes on."""
        try:
            self.on_event(event)
        except OSError:
            self.on_event = lambda event: None

    # Requests, signs of life

    def look_at_requests(self) -> None:
        """Do what pages, signals and the terminal ask for."""
        if self.signals:
            self.stop()
        for request in requests.take(self.study.name, self.store.root, since=self.since):
            if request.kind == "stop":
                self.stop()
            elif request.kind == "delete":
                self.writer.delete(set(request.run_ids) - set(self.futures), request.token)
            elif request.kind == "undo":
                self.writer.undo(request.token)

    def stop(self) -> None:
        """Begin to stop: runs that no worker has begun are taken back, the others end after their batch."""
        if self.stopping_since is not None:
            return
        self.stopping_since = time.monotonic()
        self.tell({"kind": "stopping", "running": len(self.futures)})
        for run_id, future in list(self.futures.items()):
            if not self.known[run_id].execution:
                aside(future.cancel)

    def nudge(self) -> bool:
        """While stopping: ask the workers again every second; True once it is time to leave without an answer."""
        from core.studies.worker import stop_runs

        now = time.monotonic()
        if now >= self.next_nudge:
            self.next_nudge = now + 1.0
            aside(self.client.run, stop_runs, self.token, wait=False, on_error="ignore")
        return self.signals > 1 or now - self.stopping_since > STOP_GRACE

    def beat(self, status: str = "running", message: str = "") -> None:
        """A sign of life, with all that a reader wants to know at once."""
        self.next_beat = time.monotonic() + HEARTBEAT
        out = [self.known[run_id] for run_id in self.futures]
        self.writer.state(
            status,
            message,
            total=self.total,
            workers=self.slots,
            scheduler=getattr(self, "remote", None),
            running=[one.facts() for one in out if one.execution],
            seconds_left=seconds_left(list(self.waiting), out, self.timed, self.slots) if status == "running" else None,
        )
        os.utime(self.held)

    def check_scheduler(self) -> None:
        """Give up when the cluster has been gone for long; nothing that ended is lost."""
        if self.client.status == "running":
            self.silent_since = None
            return
        self.silent_since = self.silent_since or time.monotonic()
        if self.client.status == "closed" or time.monotonic() - self.silent_since > LOST_AFTER:
            raise Lost(f"The scheduler {self.remote or 'on this machine'} is gone; start the study again to go on where it was.")

    @contextlib.contextmanager
    def signals_heard(self) -> Iterator[None]:
        """SIGINT and SIGTERM ask to stop; a second one does not wait for running runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def heard(number: int, frame: Any) -> None:
            self.signals += 1

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
