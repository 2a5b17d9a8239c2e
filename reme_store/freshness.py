"""Does the index say what the files say? Looking takes a walk over the disk, so that it follows the opening of a store.

A question waits for the walk where it is short, and always for changes the walk has found: an answer never comes from
a state that is known to be stale.
"""

import threading
from collections.abc import Callable
from typing import Final

SMALL_WORKSPACE: Final = 2_000
"""Files up to which a question waits for the whole walk."""
PATIENCE: Final = 0.015
"""Seconds a question waits for the walk over a bigger workspace."""


class Freshness:
    """One look at the disk beside the caller's work."""

    def __init__(
        self, look: Callable[["Freshness"], object], n_files: Callable[[], int], lock_is_held: Callable[[], bool]
    ) -> None:
        """``look`` brings the index up to date; it calls :meth:`walked` between finding changes and taking them in."""
        self._look, self._n_files, self._lock_is_held = look, n_files, lock_is_held
        self._walked, self._done = threading.Event(), threading.Event()
        self._found = True
        self._error: Exception | None = None
        self._failed = False
        self.cancelled = False
        """Set when the store closes: what was not taken in yet is found again at the next opening."""
        self._thread = threading.Thread(target=self._run, name="reme-freshness", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def walked(self, *, found: bool) -> None:
        """Say that the walk is over, and whether it found changes."""
        self._found = found
        self._walked.set()

    def wait(self) -> None:
        """Return once a question may be answered.

        Raises:
            Exception: whatever ended the look; the next question looks again.
        """
        if not self._done.is_set() and self._lock_is_held():
            self._look(self)  # the thread cannot get on while the caller has the lock
        elif not self._done.is_set():
            patience = None if self._n_files() <= SMALL_WORKSPACE else PATIENCE
            if self._walked.wait(patience) and self._found:
                self._done.wait()
        if self._error is not None:
            error, self._error, self._failed = self._error, None, True
            raise error
        if self._failed:
            self._look(self)
            self._failed = False

    def stop(self) -> None:
        """End looking as soon as it can, and wait for the end."""
        self.cancelled = True
        self._thread.join()

    def _run(self) -> None:
        try:
            self._look(self)
        except Exception as error:  # noqa: BLE001 - raised again where somebody asks
            self._error = error
        finally:
            self._walked.set()
            self._done.set()
