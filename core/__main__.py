"""The command line: `python -m core train|sweep|inspect|report|list|export ...`.

Each command is one function. Heavy imports stay inside them, so that --help answers at once.
Exit codes: 0 done, 1 not done (a run failed, a study was stopped), 2 cannot be done as asked.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="python -m core",
    help="Train, measure and compare contrastive encoders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DONE, NOT_DONE, USAGE = 0, 1, 2
SINGLE = "single-runs"  # the study that runs of `train` are filed under

ROOT = Path(__file__).resolve().parents[1]
RUNS, SHIPPED = ROOT / "runs", ROOT / "data" / "results"
REPORT = Path("report.html")
StoreOption = Annotated[Path, typer.Option("--store", help="Folder of the store.", envvar="CONTRASTIVE_LENS_RUNS")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]


@app.command()
def train(
    dataset: Annotated[str | None, typer.Option(help="mnist-5k needs no download; see the README for the others.")] = None,
    objective: Annotated[str | None, typer.Option(help="nt_xent, gcl, supervised, ...")] = None,
    tau: Annotated[float | None, typer.Option(help="Temperature.")] = None,
    lam: Annotated[float | None, typer.Option(help="Weight of the distribution term.")] = None,
    bits: Annotated[int | None, typer.Option(help="RandBit channels.")] = None,
    encoder: Annotated[str | None, typer.Option(help="conv, resnet18, resnet34 or resnet50.")] = None,
    epochs: Annotated[int | None, typer.Option()] = None,
    batch_size: Annotated[int | None, typer.Option()] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    seed: Annotated[int | None, typer.Option()] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any other field, as name=value; may be repeated.")] = None,
    store: StoreOption = RUNS,
    study: Annotated[str, typer.Option(help="Study to file the run under.")] = SINGLE,
    keep: Annotated[bool, typer.Option(help="Write the run to the store.")] = True,
    as_json: JsonOption = False,
) -> int:
    """Train and measure one encoder. The same settings give the same run, which is never run twice."""
    flags = {"dataset": dataset, "objective": objective, "tau": tau, "lam": lam, "bits": bits, "encoder": encoder}
    flags |= {"epochs": epochs, "batch_size": batch_size, "lr": lr, "seed": seed, "device": device}
    given = {name: value for name, value in flags.items() if value is not None}
    from core.commands.train import run_spec, train_one

    return train_one(run_spec(given | _assignments(settings or [])), store if keep else None, study, as_json)


@app.command()
def sweep(
    file: Annotated[str, typer.Argument(metavar="STUDY.toml", help="Definition of a study, or the name of one in data/studies.")],
    store: StoreOption = RUNS,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at the same time here; default: one per core.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds instead of the study's own, such as 0,1,2.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Run a study. Run it again to go on where it was: finished runs are kept, failed ones are tried again."""
    import psutil

    from core.commands.terminal import SweepReporter, duration, fail
    from core.studies.engine import run
    from core.studies.shipped import file_or_name
    from core.studies.store import Store

    study = file_or_name(file)
    if seeds is not None:
        study = study.with_seeds(seeds)
    since = psutil.Process().create_time()  # a stop may be asked for before we get here
    with SweepReporter(study, as_json) as report:
        state = run(study, Store(store), scheduler=scheduler, workers=workers, on_event=report, since=since)
    report.emit({"event": "state", "study": study.name, **state._asdict(), "runs": None})
    if state.status == "failed":
        fail(state.message)
        return NOT_DONE
    report.say(f"{study.name}: {state.status} after {duration(state.seconds)}. {state.message}".strip())
    return DONE if state.status == "finished" and not state.failed else NOT_DONE


@app.command()
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A PyTorch or safetensors checkpoint, of any codebase.")],
    branch: Annotated[str | None, typer.Option(help="Which weights, where there are several: encoder_k, student, ...")] = None,
    prefix: Annotated[str | None, typer.Option(help="Where the encoder lies, when its prefix is not a known one.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Show the encoder the images of this data set, and measure it.")] = None,
    normalisation: Annotated[str | None, typer.Option(help="Preset that images pass first: imagenet, cifar10, ...")] = None,
    n_train: Annotated[int | None, typer.Option(help="Training images for the probes; default 4000.")] = None,
    n_test: Annotated[int | None, typer.Option(help="Test images that are measured; default 1000.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="Any other choice, as name=value: stem, padding, heads, bits, ...")
    ] = None,
    store: StoreOption = RUNS,
    as_json: JsonOption = False,
) -> int:
    """Say what a checkpoint holds: format, encoder, heads, choices. Nothing in the file is run. 1: no encoder can be loaded.

    With a data set, also what the encoder knows and how its embedding lies on the sphere.
    """
    from core.commands.checkpoint import read_report, show_report
    from core.commands.inspection import check_names, choices_of, inspect_on_data, settings
    from core.inspections.suggest import choices

    if not file.strip():  # as a path, no name at all would be the current folder
        raise ValueError(f"FILE: must name a checkpoint, got {file!r}")
    given = {"branch": branch, "prefix": prefix, "dataset": dataset, "normalisation": normalisation}
    given |= {"n_train": n_train, "n_test": n_test, **_assignments(options or [])}
    check_names(given)
    report = read_report(Path(file), choices_of(given))
    if given["dataset"] is None or report.refusal_problem not in (None, "choice"):
        show_report(report, choices_of(given), as_json)
        return DONE if report.refusal is None else NOT_DONE
    inspect_on_data(settings(Path(file), report, given), choices(report, given), store, as_json)
    return DONE


@app.command()
def report(
    definition: Annotated[Path | None, typer.Argument(metavar="REPORT.toml", help="What the report holds.")] = None,
    out: Annotated[Path, typer.Option(help="File to write; its ending decides: .html, .pdf or .pptx.")] = REPORT,
    study: Annotated[str | None, typer.Option(help="Instead of a definition: everything about one study.")] = None,
    store: StoreOption = RUNS,
    as_json: JsonOption = False,
) -> int:
    """Write a report or a snapshot of a study: one offline HTML file, PDF or slides. PDF and slides need Chrome or Chromium."""
    from core.commands.report import write_report
    from core.commands.terminal import fail
    from core.report.images import PictureError

    try:
        write_report(definition, study, out, store, as_json)
    except PictureError as error:
        fail(str(error))
        return NOT_DONE
    return DONE


@app.command("list")
def list_(
    study: Annotated[str | None, typer.Argument(help="Name of a study; without it the studies are listed.")] = None,
    store: StoreOption = RUNS,
    as_json: JsonOption = False,
) -> int:
    """List the studies of a store, or the runs of one study."""
    from core.commands.listing import list_runs, list_studies
    from core.studies.store import Store

    if study is None:
        list_studies(Store(store), as_json)
    else:
        list_runs(Store(store), study, as_json)
    return DONE


@app.command()
def export(
    study: Annotated[str, typer.Argument(help="Name of the study.")],
    store: StoreOption = RUNS,
    to: Annotated[Path, typer.Option("--to", help="Folder to copy into.")] = SHIPPED,
    as_json: JsonOption = False,
) -> int:
    """Copy the results of a study, small enough to be shipped: no checkpoints, embeddings of the first seed only."""
    from core.studies.store import Store

    folder = Store(store).export(study, to)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(json.dumps({"folder": str(folder), "bytes": size}) if as_json else f"{folder}  {size / 1e6:.1f} MB")
    return DONE


def _assignments(pairs: list[str]) -> dict[str, Any]:
    """name=value pairs as settings; values are read as TOML where they are, else as text; no value is None."""
    from core.validation import parse_toml

    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--set: must be name=value, got {pair!r}")
        try:
            settings[name.strip()] = parse_toml(f"value = {text}")["value"]
        except ValueError:
            settings[name.strip()] = text or None
    return settings


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: Words after `python -m core`; None takes those of this process.

    Returns:
        The exit code. What a person can put right is one line on the error stream and code 2.
    """
    from core.commands.terminal import fail

    try:
        return int(app(arguments, standalone_mode=False, prog_name="python -m core") or 0)
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_DONE
    except (ValueError, OSError) as error:
        fail(str(error))
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        fail("interrupted")
        return NOT_DONE
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's errors of usage, wherever it keeps them
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
        else:
            fail(f"{error.format_message().rstrip('.')}; see python -m core --help")
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
