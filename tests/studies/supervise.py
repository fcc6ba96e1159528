"""A supervisor in a process of its own: `python -m tests.studies.supervise STUDY ROOT FAKE_FUNCTION [WORKERS | SCHEDULER]`.

Prints one JSON line per event, the last one with the final state and the names of all files.
"""

import json
import sys
from pathlib import Path

from core.studies.engine import run
from core.studies.names import StudyError
from core.studies.study import StudySpec


def main() -> int:
    file, root, function, *where = sys.argv[1:]
    place = where[0] if where else ""  # a number of workers, or the address of a scheduler
    try:
        state = run(
            StudySpec.from_toml(file),
            root,
            workers=int(place) if place.isdecimal() else None,
            scheduler=place if "://" in place else None,
            on_event=lambda event: print(json.dumps(event), flush=True),
            run_function=f"tests.studies.fake_runs:{function}",
        )
    except StudyError as error:
        print(json.dumps({"kind": "refused", "error": str(error)}), flush=True)
        return 2
    files = sorted(str(path.relative_to(root)) for path in Path(root).rglob("*") if path.is_file())
    print(json.dumps({"kind": "final", "status": state.status, "message": state.message, "files": files}), flush=True)
    return 0 if state.status == "finished" else 1


if __name__ == "__main__":
    sys.exit(main())
