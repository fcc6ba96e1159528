"""A study at work: progress that looks again every two seconds, and the one action that helps in each state."""

from collections.abc import Callable

import streamlit as st

from core.durations import spoken
from core.studies import StudyError, StudyState
from core.studies.catalogue import Entry
from core.studies.launch import request_stop, start
from core.studies.study import StudySpec
from pages.parts import address, studies
from pages.parts.text import literal

LOOK_AGAIN = "2s"  # only while a study is at work
PROBLEM = "launch_problem"


def launch(definition: StudySpec, then: Callable[[], None] | None = None) -> None:
    """Start or resume a study in its own process; a mistake is kept for `show_problem`. For widget callbacks."""
    try:
        start(definition, studies.runs().root)
    except StudyError as error:
        st.session_state[PROBLEM] = str(error)
        return
    address.remember("study", f"runs/{definition.name}")
    if then:
        then()


def stop(entry: Entry) -> None:
    """Ask a study to stop. For widget callbacks."""
    try:
        request_stop(entry.name, entry.store.root)
    except StudyError as error:
        st.session_state[PROBLEM] = str(error)
    else:
        st.session_state[f"stopping_{entry.name}"] = True


def show_problem() -> None:
    """Why a study could not be started or stopped, once."""
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(literal(problem), icon=":material/error:")


def watch(entry: Entry, key: str) -> StudyState:
    """Show how a study is doing, as far as there is anything to say: a finished study needs no word.

    Args:
        entry: The study.
        key: Start of the widget keys, unique on the page.

    Returns:
        Its state, as the page should take it for this run.
    """
    state = entry.store.state(entry.name)
    if not state.active:
        st.session_state.pop(f"stopping_{entry.name}", None)
    show_problem()
    if entry.definition is None and (problem := entry.store.definition_problem(entry.name)):
        said = f"The study's definition cannot be used, so it cannot be run from here; its results are shown. {problem}"
        st.warning(literal(said), icon=":material/edit_document:")
    if state.active:
        left, right = st.columns([6, 1], vertical_alignment="center")
        with left:
            _progress(entry, state, key)
        stopping = st.session_state.get(f"stopping_{entry.name}", False)
        right.button(
            "Stopping" if stopping else "Stop",
            key=f"{key}_stop",
            icon=":material/stop_circle:",
            disabled=stopping,
            on_click=stop,
            args=(entry,),
            width="stretch",
            help="Runs in progress end after their current batch and count as not done. Starting again resumes the study.",
        )
    else:
        at_rest(entry, state, key)
    return state


def at_rest(entry: Entry, state: StudyState, key: str) -> None:
    """Say what is wrong with a study at rest, and offer what helps: nothing is said about a complete one."""
    if state.status == "missing" and entry.origin != "defined":
        st.warning(literal(state.message), icon=":material/search_off:")
    elif state.status in {"missing", "empty"}:
        if state.status == "empty" and state.message:
            st.warning(literal(state.message), icon=":material/broken_image:")
        else:
            st.info(
                "Nothing was run yet. The curve appears here, point by point, once the study runs.",
                icon=":material/hourglass_empty:",
            )
        run_button(entry, key, "Run this study")
    elif state.status == "stalled":
        st.warning(
            f"**Stalled** after {state.ended} of {state.total} runs. {literal(state.message)} What has finished is safe.",
            icon=":material/heart_broken:",
        )
        run_button(entry, key, "Resume")
    elif state.status == "failed":
        st.error(f"**Failed** after {state.ended} of {state.total} runs. {literal(state.message)}", icon=":material/error:")
        run_button(entry, key, "Try again")
    elif state.status == "stopped" and state.ended < state.total:
        said = literal(state.message)
        st.info(f"**Stopped** after {state.ended} of {state.total} runs. {said}", icon=":material/pause_circle:")
        run_button(entry, key, "Resume")
    if state.status == "finished" and state.message:
        st.warning(literal(state.message), icon=":material/broken_image:")
    if state.failed:
        st.warning(
            f"{state.failed} of {state.total} runs failed; their last line stands in the column error of the run table.",
            icon=":material/error:",
        )


def run_button(entry: Entry, key: str, text: str, **options) -> None:
    """A button that starts or resumes the study, with an honest time beside it. Shipped results are run into the own folder."""
    if entry.definition is None:
        st.caption("The study has no definition that can be read, so it cannot be run from here.")
        return
    own = studies.runs().table(entry.name)
    done = tuple(own.loc[own["status"].isin(["finished", "diverged"]), "run_id"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text,
            key=f"{key}_run",
            icon=":material/play_arrow:",
            on_click=launch,
            args=(entry.definition,),
            **options,
        )
        st.caption(studies.time_needed(entry.definition, done))


def _progress(entry: Entry, seen: StudyState, key: str) -> None:
    """The part that looks again by itself. When a run ends or the study comes to rest, the whole page is drawn anew."""

    @st.fragment(run_every=LOOK_AGAIN, key=f"{key}_progress")
    def looking() -> None:
        state = entry.store.state(entry.name)
        if state.status != seen.status or state.ended != seen.ended:
            st.rerun()
        st.progress(share(state), text=sentence(state))

    looking()


def share(state: StudyState) -> float:
    """How much of the study is done, with runs in progress counted by their epochs."""
    if not state.total:
        return 0.0
    return min(1.0, (state.ended + sum(run.share for run in state.runs)) / state.total)


def sentence(state: StudyState) -> str:
    """What the progress bar says."""
    if state.status == "queued":
        return "Starting: the workers load torch and the data."
    parts = [f"**{state.ended} of {state.total} runs**", f"{state.running} in progress"]
    rates = [run.samples_per_second for run in state.runs if run.samples_per_second]
    if rates:
        parts.append(f"{sum(rates):,.0f} images/s")
    if state.seconds_left is not None:
        parts.append(f"{spoken(state.seconds_left)} left")
    if state.diverged or state.failed:
        parts.append(", ".join(f"{count} {kind}" for kind in ("diverged", "failed") if (count := getattr(state, kind))))
    return " · ".join(parts)
