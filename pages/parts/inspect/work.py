"""An inspection at work, or one that did not end well: progress that looks again by itself, and the action that helps."""

import streamlit as st

from core.durations import spoken
from core.inspections import samples
from core.inspections.launch import kill, start
from core.inspections.spec import InspectionSpec
from core.inspections.state import InspectionState
from core.inspections.store import InspectionError, InspectionStore
from pages.parts import address
from pages.parts.inspect.places import PROBLEM, Found, own, result, uploads
from pages.parts.text import literal

LOOK_AGAIN = "2s"  # only while it is at work
STOPPING = "**Stopping**; the current batch ends first."


def launch(spec: InspectionSpec) -> None:
    """Start an inspection, unless it was done before, and show it; a mistake is kept for `show_problem`. For widget callbacks.

    One whose result cannot be read any more was not done before: it is started again.
    """
    store = own()
    try:
        if not any(_is_there(place, spec.inspection_id) for place in (samples.inspections(), store)):
            start(samples.located(spec), store, uploads())
    except InspectionError as error:
        st.session_state[PROBLEM] = str(error)
        return
    address.remember("inspection", spec.inspection_id)
    address.forget("image")


def _is_there(store: InspectionStore, inspection_id: str) -> bool:
    """Whether an inspection is at work, or done with a result that can be read."""
    state = store.state(inspection_id)
    return state.active or (state.status == "finished" and result(store, inspection_id) is not None)


def watch(entry: Found) -> None:
    """Show how an inspection that has no result is doing."""
    if entry.state.active:
        _at_work(entry)
        return
    message = entry.state.message
    if entry.state.status == "failed":
        st.error(f"**{literal(entry.spec.name)}** could not be inspected. {literal(message)}", icon=":material/error:")
    elif entry.state.status == "stalled":
        said = entry.store.last_words(entry.id)
        st.warning(f"**Stalled.** {message} {literal(said)}".rstrip(), icon=":material/heart_broken:")
    elif entry.state.status == "stopped":
        st.info(stopped(entry.state), icon=":material/stop_circle:")
    elif entry.state.status == "finished":
        st.error(
            f"**{literal(entry.spec.name)}** was inspected, but the result on disk is damaged. Running it again replaces it.",
            icon=":material/broken_image:",
        )
        st.caption(f"It lies in {literal(str(entry.store.folder(entry.id)))}.")
    else:
        st.info("This inspection has no result yet.", icon=":material/hourglass_empty:")
    st.button("Run it again", key="ins_again", icon=":material/play_arrow:", on_click=launch, args=(entry.spec,))


def stopped(state: InspectionState) -> str:
    """What was kept of an inspection that was stopped."""
    after = f" at {state.share:.0%}" if state.share else ""
    after += f", after {spoken(state.seconds)}" if state.seconds else ""
    return (
        f"**Stopped{after}.** {state.message} No numbers were kept: they are written when everything is measured. The checkpoint "
        "and the settings are still here, so that it can be run again from the beginning."
    ).replace("  ", " ")


def _at_work(entry: Found) -> None:
    """The part that looks again, with the button: a click answers without drawing the whole page anew.

    When the work ends, the whole page is.
    """

    @st.fragment(run_every=LOOK_AGAIN, key="ins_progress")
    def looking() -> None:
        state = entry.store.state(entry.id)
        if not state.active:
            st.rerun()
        stopping = entry.store.stop_requested(entry.id)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{literal(entry.spec.name)}** is being inspected. It goes on when this page is closed.")
            st.button(
                "Stopping" if stopping else "Stop", key="ins_stop", icon=":material/stop_circle:", disabled=stopping,
                on_click=_stop, args=(entry,), help="The current batch ends first. No numbers are kept.",
            )  # fmt: skip
            if stopping:
                st.button(
                    "End now", key="ins_kill", type="tertiary", on_click=kill, args=(entry.id, entry.store),
                    help="Ends the process without waiting for it.",
                )  # fmt: skip
        st.progress(state.share, text=STOPPING if stopping else sentence(state))

    looking()


def sentence(state: InspectionState) -> str:
    """What the progress bar says."""
    if state.status == "queued":
        return "Starting: the process loads torch and the checkpoint."
    parts = [f"**{state.part.capitalize()}**", f"{state.share:.0%}"]
    if state.rate and state.part == "encoding":
        parts.append(f"{state.rate:,.0f} images/s")
    if state.seconds_left is not None:
        parts.append(f"{spoken(state.seconds_left)} left")
    return " · ".join(parts)


def _stop(entry: Found) -> None:
    try:
        entry.store.request_stop(entry.id)
    except InspectionError as error:
        st.toast(literal(str(error)), icon=":material/error:")
