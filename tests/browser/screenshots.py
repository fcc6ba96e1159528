"""Every page in both sizes and both themes, as pictures in a folder:

    python -m tests.browser.screenshots --out /tmp/screens             # the shipped results and your runs
    python -m tests.browser.screenshots --out /tmp/screens --made-up   # invented data in every state, for looking at the layout
    python -m tests.browser.screenshots --out /tmp/screens --only runs --size 1440x900 --theme dark
    python -m tests.browser.screenshots --out data/screenshots --documents   # what the README shows; also: make screenshots
"""

import argparse
import re
import tempfile
import time
from pathlib import Path

from PIL import Image

from tests import fixtures
from tests.browser.serve import ROOT, browser, server, settle

SIZES = {"1440x900": (1440, 900), "1024x768": (1024, 768)}
THEMES = ("light", "dark")


def pages() -> dict[str, str]:
    """Name -> address of every page that the app routes, read from its own table, plus views that need more than an address."""
    files = re.findall(r'"pages/[^"]*/([a-z_0-9]+)\.py"', (ROOT / "app.py").read_text(encoding="utf-8"))
    return {name: "/" if name == "home" else f"/{name}" for name in files}


def shoot(
    address: str,
    out: Path,
    wanted: dict[str, str],
    sizes: list[str],
    themes: list[str],
    full: bool,
) -> list[Path]:
    """Open every page in every size and theme and keep a picture of it.

    Args:
        address: Of a running dashboard.
        out: Folder, made if missing.
        wanted: Name -> path of the pages.
        sizes: Keys of SIZES.
        themes: "light", "dark".
        full: The whole page instead of the first screen.

    Returns:
        The files.
    """
    out.mkdir(parents=True, exist_ok=True)
    made = []
    with browser() as chromium:
        for size in sizes:
            width, height = SIZES[size]
            for theme in themes:
                context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
                page = context.new_page()
                page.goto(address)  # a server answers its very first deep link with a second load
                settle(page)
                for name, path in wanted.items():
                    page.goto(address + path)
                    settle(page, 1.2)
                    if full:
                        _grow(page, width)
                    made.append(out / f"{name}-{size}-{theme}.png")
                    page.screenshot(path=made[-1])
                    page.set_viewport_size({"width": width, "height": height})
                context.close()
    return made


def shrink(path: Path) -> None:
    """Keep 256 colours, a third of the bytes."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def _grow(page, width: int) -> None:
    """Make the window as tall as the page: Streamlit scrolls inside, so a full-page picture would end at the window."""
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": min(int(tall) + 20, 6000)})
    settle(page, 0.8)


def made_up(root: Path) -> dict[str, str]:
    """Fill two stores with invented studies in every state. Returns views that show them, by name."""
    randbit, quick = fixtures.study(), fixtures.study("randbit-quick")
    ended = fixtures.fill(root / "results", randbit)
    fixtures.fill(root / "results", fixtures.study("official-randbits-mnist"))
    for rivals in ("digits-cifar10", "digit-size-mnist", "color-cifar10"):
        fixtures.fill(root / "results", fixtures.study(rivals, seeds=(0, 1)), embeddings=False)
    fixtures.fill(root / "runs", quick, folders=True, runs=2)
    fixtures.set_state(root / "runs", quick, "running", running=2, heartbeat=time.time() + 3600)  # pictures may take their time
    run = next(run for run in ended if run.bits == 10 and run.tau == 0.1 and run.objective == "nt_xent")
    study = "study=results/randbit-mnist-5k"
    return {
        "feature_suppression-run": f"/feature_suppression?{study}&run={run.run_id}",
        "feature_suppression-published": "/feature_suppression?study=results/official-randbits-mnist&sup_metric=online+probe",
        "feature_suppression-live": "/feature_suppression?study=runs/randbit-quick",
        "feature_suppression-digits": "/feature_suppression?study=results/digits-cifar10",
        "feature_suppression-sizes": "/feature_suppression?study=results/digit-size-mnist",
        "feature_suppression-colour": "/feature_suppression?study=results/color-cifar10",
        "feature_suppression-photos": "/feature_suppression?sup_tab=Digit+on+image&study=defined/digits-tiny-imagenet-20",
        "feature_suppression-own": "/feature_suppression?sup_tab=Your+own+data",
        "runs-compare": f"/runs?{study}&compare={','.join(run.run_id for run in ended[:4])}",
        "runs-live": "/runs?study=runs/randbit-quick",
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--made-up", action="store_true", help="invented data instead of the shipped results and your runs")
    parser.add_argument("--only", action="append", default=[], help="pages whose name contains this; may be repeated")
    parser.add_argument("--size", action="append", choices=list(SIZES), default=[])
    parser.add_argument("--theme", action="append", choices=THEMES, default=[])
    parser.add_argument("--documents", action="store_true", help="shipped results without your runs, in 256 colours")
    parser.add_argument("--full", action="store_true", help="whole pages instead of the first screen")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        extra = made_up(root) if asked.made_up else {}
        results = root / "results" if asked.made_up else ROOT / "data" / "results"
        runs = root / "runs" if asked.made_up or asked.documents else ROOT / "runs"
        views = pages() | extra
        wanted = {name: path for name, path in views.items() if not asked.only or any(part in name for part in asked.only)}
        with server(results, runs, root / "server.log") as address:
            sizes, themes = asked.size or list(SIZES), asked.theme or list(THEMES)
            for path in shoot(address, asked.out, wanted, sizes, themes, asked.full):
                if asked.documents:
                    shrink(path)
                print(path)


if __name__ == "__main__":
    main()
