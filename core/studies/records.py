"""What the files of a store must hold to be used: one that another program or version wrote otherwise counts as broken."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.studies.names import RUN_ID, STUDY_NAME


def _run_id(text: str) -> str:
    if not RUN_ID.fullmatch(text):
        raise ValueError("must be 12 hexadecimal digits")
    return text


Seconds = Annotated[float, Field(ge=0, le=1e11)]  # since 1970; beyond, no calendar knows a date
Count = Annotated[int, Field(ge=0)]
RunId = Annotated[str, AfterValidator(_run_id)]


class Record(BaseModel):
    """Fields that are read; more may stand beside them. Nothing is converted, as the content is used as it is."""

    model_config = ConfigDict(strict=True, extra="allow")


class Process(Record):
    """Who wrote a file, see `process.identity`."""

    pid: int | None = None
    created: float = 0.0
    host: str = ""


class Launch(Process):
    """<study>.launch.json."""

    at: Seconds = 0.0


class Holder(Process):
    """lock.json."""

    since: Seconds = 0.0


class InProgress(Record):
    """One of the runs in state.json."""

    run_id: RunId
    label: str = ""
    attempt: Count = 1
    epoch: Count = 0
    epochs: Count = 1
    share: float = 0.0
    samples_per_second: float | None = None
    began: Seconds = 0.0
    activity: str = ""


class Pulse(Process):
    """state.json."""

    status: str = ""
    message: str = ""
    started: Seconds = 0.0
    heartbeat: Seconds = 0.0
    total: Count = 0
    running: list[InProgress] = []
    workers: Count = 0
    seconds_left: float | None = None


class Begun(Record):
    """spec.json."""

    label: str = ""
    spec: dict[str, Any]


class Outcome(Record):
    """The part of a result that tells whose it is; the rest is a RunResult."""

    run_id: RunId


class Result(Record):
    """result.json."""

    attempt: Count = 1
    result: Outcome


class Row(Result):
    """A line of results.jsonl."""

    run_id: RunId
    label: str = ""
    spec: dict[str, Any]


class Epoch(Record):
    """A line of metrics.jsonl that tells of an epoch; what is drawn of it is a number."""

    kind: str = "epoch"
    epoch: Count = 0
    attempt: Count = 1
    loss: float | None = None
    loss_floor: float | None = None
    loss_alignment: float | None = None
    loss_distribution: float | None = None
    probe_loss: float | None = None
    alignment: float | None = None
    uniformity: float | None = None
    online_accuracy: float | None = None
    samples_per_second: float | None = None
    seconds: float | None = None
    lr: float | None = None


class Curve(Record):
    """A line of curves.jsonl.gz."""

    run_id: RunId
    history: list[dict[str, Any]]


class Deleted(Record):
    """manifest.json in the trash."""

    study: Annotated[str, StringConstraints(pattern=f"^{STUDY_NAME.pattern}$")]
    whole: bool
    rows: list[Row]


def conforms(content: Any, like: type[Record]) -> bool:
    """Whether a file's content can be used as a record of that kind."""
    try:
        like.model_validate(content)
    except ValidationError:
        return False
    return True
