"""What the command line shows: bars on a terminal, plain lines in a log, JSON lines for programs."""

import json
import sys
import time
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

Event = dict[str, Any]
SECONDS_BETWEEN_LINES = 10  # in a log, while nothing ends


def duration(seconds: float | None) -> str:
    """Seconds as people say them: 41 s, 3 min 20 s, 2 h 5 min; empty for None."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{round(whole / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def number(value: Any) -> str:
    """A value as a table shows it: three decimals, empty for what was not measured."""
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        rate = task.fields.get("rate")
        return Text(f"{rate:,.0f} images/s" if rate else "")


class _Left(ProgressColumn):
    def render(self, task: Task) -> Text:
        left = task.fields.get("left", task.time_remaining)
        return Text(f"{duration(left)} left" if left else "")


class Reporter:
    """Shows events of runs. A context manager: bars appear on entry and go on exit."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.console = Console(stderr=True)
        self.bars: Progress | None = None
        if not as_json and self.console.is_terminal:
            text, done = TextColumn("{task.description}"), TextColumn("{task.fields[done]}")
            self.bars = Progress(text, BarColumn(), TaskProgressColumn(), done, _Rate(), _Left(), console=self.console)
        self.tasks: dict[str, Any] = {}
        self.last_line = 0.0

    def __enter__(self) -> "Reporter":
        if self.bars:
            self.bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bars:
            self.bars.stop()

    def say(self, text: str) -> None:
        """A line for people; nothing in JSON mode."""
        if self.as_json:
            return
        if self.bars:
            self.bars.console.print(text, highlight=False, markup=False)
        else:
            print(time.strftime("%H:%M:%S"), text, flush=True)

    def emit(self, record: Event) -> None:
        """A record for programs; nothing in the other modes."""
        if self.as_json:
            print(json.dumps(record, ensure_ascii=False), flush=True)

    def bar(self, key: str, text: str, share: float, done: str = "", **fields: Any) -> None:
        """Show or move a bar; in a log, a line now and then.

        Args:
            key: Which bar.
            text: What it is about.
            share: 0 to 1.
            done: What has been done, such as "epoch 3 of 20".
            fields: rate (images per second), left (seconds).
        """
        if self.bars:
            if key not in self.tasks:
                self.tasks[key] = self.bars.add_task(text, total=1.0, done=done, **fields)
            self.bars.update(self.tasks[key], description=text, completed=share, done=done, **fields)
        elif time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            rate = f", {fields['rate']:,.0f} images/s" if fields.get("rate") else ""
            left = f", {duration(fields['left'])} left" if fields.get("left") else ""
            self.say(f"{text}: {share:.0%}{', ' + done if done else ''}{rate}{left}")

    def drop(self, key: str) -> None:
        """Take a bar away."""
        if self.bars and key in self.tasks:
            self.bars.remove_task(self.tasks.pop(key))


class SweepReporter(Reporter):
    """Shows the events of a study's supervisor."""

    def __init__(self, study: Any, as_json: bool = False) -> None:
        super().__init__(as_json)
        self.study = study
        self.names = {run.run_id: self._name(run) for run in study.expand()}
        self.total = self.left = self.ended = 0
        self.shares: dict[str, float] = {}
        self.started = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Take in one event of `core.studies.engine.run`."""
        kind, run_id = event["kind"], event.get("run_id", "")
        if kind in ("plan", "begin", "retry", "end", "stopping"):
            self.emit({"event": kind, "study": self.study.name, **{key: value for key, value in event.items() if key != "kind"}})
        if kind == "plan":
            self.total, self.left = event["total"], event["left"]
            done = f"; {self.total - self.left} are done already" if self.left < self.total else ""
            self.say(f"{self.study.name}: {self.total} runs{done}")
        elif kind == "retry":
            self.say(f"{self.names.get(run_id, run_id)}: {event['error']}; trying again")
        elif kind == "stopping":
            self.say(f"Stopping: {event['running']} runs end their batch. Press Ctrl-C again to leave at once.")
        elif kind == "end":
            self.ended += 1
            count = f"{self.total - self.left + self.ended} of {self.total}"
            self.say(f"{count}  {self.names.get(run_id, run_id)}: {outcome(event['result'])}")
        if kind in ("end", "stopped"):
            self.shares.pop(run_id, None)
            self.drop(run_id)
        elif "share" in event:
            self.shares[run_id] = event["share"]
            done = event.get("activity") or f"epoch {event['epoch'] + 1} of {event['epochs']}"
            if event["epoch"] >= event["epochs"]:
                done = "measuring"
            if self.bars:
                self.bar(run_id, self.names.get(run_id, run_id), event["share"], done, rate=event.get("samples_per_second"))
        self._overall()

    def _overall(self) -> None:
        done = self.ended + sum(self.shares.values())
        seconds = time.monotonic() - self.started
        left = seconds / done * (self.left - done) if done > 0.2 else None
        before = self.total - self.left
        share = (before + done) / self.total if self.total else 1.0
        self.bar("", self.study.name, share, f"{before + self.ended} of {self.total} runs", left=left)

    def _name(self, run: Any) -> str:
        varied = [f"{field} {getattr(run, field)}" for field in self.study.varied if getattr(run, field) is not None]
        return ", ".join([self.study.label_of(run), *varied, f"seed {run.seed}"])


def outcome(result: dict[str, Any]) -> str:
    """One line about an ended run."""
    if result["status"] == "failed":
        return f"failed ({result.get('error')})"
    if result["status"] == "diverged":
        return f"diverged after epoch {result.get('epochs_done')}"
    accuracy = result.get("linear_accuracy")
    measured = f"linear accuracy {accuracy:.3f}" if accuracy is not None else result["status"]
    return f"{measured} in {duration(result.get('seconds'))}"


def show_rows(columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print a table: drawn on a terminal, tab-separated in a pipe."""
    console = Console()
    cells = [[number(value) for value in row] for row in rows]
    if console.is_terminal:
        drawn = Table(*columns, header_style="bold", box=None, pad_edge=False)
        for row in cells:
            drawn.add_row(*row)
        console.print(drawn, highlight=False)
        return
    for row in [columns, *cells]:
        print("\t".join(row))


def fail(text: str) -> None:
    """Say on one line of the error stream what went wrong; more lines are counted."""
    first, *rest = str(text).strip().splitlines() or ["unknown error"]
    more = f" (and {len(rest)} more problem{'s' if len(rest) > 1 else ''})" if rest else ""
    print(f"error: {first}{more}", file=sys.stderr, flush=True)
