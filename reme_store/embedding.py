"""Which texts have a vector, how do the others get one, and which are near to a question?

Any object with the methods of LangChain's ``Embeddings`` gives the vectors. One thread fills in what is missing, those
notes first that search covers by default; no question waits for it. Where the provider fails, questions are answered by
words alone, the provider is left alone for a while, and ``fault`` says why.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from filelock import FileLock, Timeout

from reme_store.index.arrays import Array
from reme_store.index.notes import CONTENT
from reme_store.index.segment import Part
from reme_store.index.vectors import StoredVectors
from reme_store.index.view import IndexView
from reme_store.note_index import NoteIndex

PIECE_CHARS: Final = 2_000
"""Longest text a model is given at once; a longer one has a vector for each of its pieces, and the best counts."""
BATCH_TEXTS: Final = 32
QUESTION_SECONDS: Final = 10.0
"""How long a question waits for its vector."""
_MAX_QUESTION: Final = 4_000
_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 60.0
_OTHERS_TURN: Final = 5.0
"""Seconds before looking again whether another process still fills in vectors."""
_REMEMBERED: Final = 256
_FIRST_FOLDERS: Final = ("digest/", "daily/")
_LAST_FOLDERS: Final = ("resource/", "reme_session/")
_OPTIONS: Final = f"pieces {PIECE_CHARS}"

_logger = logging.getLogger(__name__)

Near = tuple[Array, Array]
"""uint64[n] of texts and float32[n] of their cosines with a question."""


class TextEmbedder(Protocol):
    """What turns text into vectors, such as any LangChain ``Embeddings``."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text, all of one size."""

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""


class Embedding:
    """The vectors of a workspace's notes by one model."""

    def __init__(self, folder: Path, index: NoteIndex, embedder: TextEmbedder, model: str) -> None:
        """Name the vectors of a model below ``folder``; nothing runs before ``start``."""
        self.model = model
        self._index, self._embedder = index, embedder
        self._vectors = StoredVectors(folder, model, _OPTIONS)
        self._turn = FileLock(self._vectors.folder / ".filling.lock", thread_local=False)
        self._pause = _Pause()
        self._state = threading.Condition()
        self._due, self._idle, self._stopped = True, False, False
        self._blank: set[int] = set()
        self._refused: dict[int, str] = {}
        self._questions: dict[str, Array] = {}
        self._thread = threading.Thread(target=self._run, name="reme-embedding", daemon=True)

    @property
    def fault(self) -> str:
        """Why the provider gives no vectors now; empty when it does."""
        return self._pause.reason

    @property
    def problems(self) -> list[str]:
        """What a person should know: the fault, and texts the provider refuses."""
        refused = list(self._refused.values())
        told = [f"{len(refused)} text(s) have no vector: {refused[0]}"] if refused else []
        return [*([self.fault] if self.fault else []), *told]

    def start(self) -> None:
        """Begin to fill in what is missing."""
        self._thread.start()

    def stop(self) -> None:
        """End filling in; a call of the provider that hangs is left behind."""
        with self._state:
            self._stopped = True
            self._state.notify_all()
        self._thread.join(QUESTION_SECONDS)
        self._vectors.close()

    def wake(self) -> None:
        """Say that notes have changed."""
        with self._state:
            self._due, self._idle = True, False
            self._state.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Try now, and wait until nothing is missing or the provider fails; return whether nothing is missing."""
        self._pause.end()
        self.wake()
        with self._state:
            self._state.wait_for(lambda: self._idle or self._stopped, timeout)
        n_texts, n_vectors = self.coverage()
        return n_texts == n_vectors

    def coverage(self) -> tuple[int, int]:
        """Return how many different texts there are, and how many of them have a vector."""
        wanted = _texts(self._index.view())
        return len(wanted), int(np.count_nonzero(np.isin(wanted, self._known())))

    def verify(self) -> list[str]:
        """Check every stored byte against its checksum and return what is damaged."""
        return self._vectors.verify()

    # questions

    def ask(self, question: str) -> Callable[[], Near | None]:
        """Begin to look for what is near to a question; the result is waited for by calling what is returned.

        It is None where the provider fails or takes too long.
        """
        known = self._questions.get(question)
        if known is not None:
            return lambda: self._near(known)
        if self._pause.is_on:
            return lambda: None
        found: list[Array | None] = []
        thread = threading.Thread(target=lambda: found.append(self._asked(question)), daemon=True)
        thread.start()

        def result() -> Near | None:
            thread.join(QUESTION_SECONDS)
            if not found:
                self._failed(f"no vector of the question within {QUESTION_SECONDS:g} s")
            return self._near(found[0]) if found and found[0] is not None else None

        return result

    def _asked(self, question: str) -> Array | None:
        try:
            (vector,) = _checked([self._embedder.embed_query(_sendable(question[:_MAX_QUESTION]))], 1)
        except Exception as error:  # noqa: BLE001 - whatever a provider raises leaves search by words, and is reported
            self._failed(_said(error))
            return None
        self._pause.end()
        if len(self._questions) >= _REMEMBERED:
            self._questions.clear()
        self._questions[question] = vector
        return vector

    def _near(self, vector: Array) -> Near | None:
        try:
            return self._vectors.similarities(vector)
        except ValueError as error:  # the model of this name is another one now
            self._questions.clear()
            self._vectors.clear(str(error))
            self.wake()
            return None

    def _failed(self, reason: str) -> None:
        if reason != self._pause.reason:
            _logger.warning("Embedding model %s: %s", self.model, reason)
        self._pause.begin(reason)

    # filling in

    def _run(self) -> None:
        while self._wait_for_work():
            try:
                with self._turn.acquire(blocking=False):
                    complete = self._fill()
            except Timeout:
                complete = False
                self._rest(_OTHERS_TURN)
            except Exception as error:  # noqa: BLE001 - a full disk, say: reported, and tried again later
                complete = False
                self._failed(_said(error))
            with self._state:
                self._due = self._due or not complete
                self._idle = not self._due or bool(self.fault)
                self._state.notify_all()

    def _wait_for_work(self) -> bool:
        """Return whether to go on, once there is work and the provider may be asked."""
        with self._state:
            while not self._stopped and not (self._due and not self._pause.is_on):
                self._state.wait(self._pause.seconds if self._due else None)
            self._due = False
            return not self._stopped

    def _rest(self, seconds: float) -> None:
        with self._state:
            self._state.wait_for(lambda: self._stopped, seconds)

    def _fill(self) -> bool:
        """Give a vector to every text without one; return whether none is left."""
        view = self._index.view()
        for batch in _batches(self._missing(view)):
            if self._stopped or not self._embed(batch):
                return False
        self._vectors.retain(_texts(view))
        return True

    def _known(self) -> Array:
        done = np.array([*self._blank, *self._refused], dtype=np.uint64)
        return np.union1d(self._vectors.keys(), done)

    def _missing(self, view: IndexView) -> Iterator[tuple[int, list[str]]]:
        """Yield the texts without a vector, each with its pieces."""
        known = self._known()
        places: list[tuple[int, str, Part, int]] = []
        for part in view.parts:
            notes = part.segment.notes
            docs = np.flatnonzero(_is_content(part) & ~np.isin(notes.columns["text_hash"], known))
            owners = np.unique(notes.columns["note"][docs]).tolist()
            places += [(_urgency(notes.paths[note]), notes.paths[note], part, note) for note in owners]
        done = set(known.tolist())
        for _, _, part, note in sorted(places, key=lambda place: place[:2]):
            notes = part.segment.notes
            first = int(notes.first_doc[note])
            for n, chunk in enumerate(self._index.record_of(view, part, note).chunks):
                key = int(notes.columns["text_hash"][first + n])
                if key in done or notes.columns["kind"][first + n] != CONTENT:
                    continue
                done.add(key)
                pieces = cut_pieces(chunk.text)
                if pieces:
                    yield key, pieces
                else:
                    self._blank.add(key)

    def _embed(self, batch: Sequence[tuple[int, list[str]]]) -> bool:
        """Store the vectors of some texts; return whether the provider works."""
        try:
            self._store(batch)
        except Exception as error:  # noqa: BLE001 - whatever a provider raises is reported, and tried again later
            if len(batch) == 1 or not self._embed_singly(batch):
                self._failed(_said(error))
                return False
        self._pause.end()
        return True

    def _embed_singly(self, batch: Sequence[tuple[int, list[str]]]) -> bool:
        """Find the texts that a provider refuses among those it takes; return whether it takes any."""
        refused: dict[int, str] = {}
        for n, one in enumerate(batch):
            try:
                self._store([one])
            except Exception as error:  # noqa: BLE001 - as above
                refused[one[0]] = _said(error)
                if n == 1 and len(refused) == 2:
                    return False  # already the first two: it is the provider, not the texts
        if len(refused) < len(batch):
            self._refused |= refused
        return len(refused) < len(batch)

    def _store(self, batch: Sequence[tuple[int, list[str]]]) -> None:
        pieces = [piece for _, texts in batch for piece in texts]
        vectors = _checked(self._embedder.embed_documents(pieces), len(pieces))
        found: dict[int, Array] = {}
        for key, texts in batch:
            found[key], vectors = np.stack(vectors[: len(texts)]), vectors[len(texts) :]
        if not self._stopped:
            self._vectors.add(found)


class _Pause:
    """How long a failing provider is left alone: longer each time, until it answers again."""

    def __init__(self) -> None:
        self.reason = ""
        self._length, self._until = 0.0, 0.0

    @property
    def seconds(self) -> float:
        """How long it lasts yet."""
        return max(0.0, self._until - time.monotonic())

    @property
    def is_on(self) -> bool:
        """Whether the provider is left alone now."""
        return self.seconds > 0

    def begin(self, reason: str) -> None:
        """Leave the provider alone."""
        self.reason = reason
        self._length = min(_LONGEST_PAUSE, 2 * self._length or _FIRST_PAUSE)
        self._until = time.monotonic() + self._length

    def end(self) -> None:
        """Ask it again at once."""
        self.reason, self._length, self._until = "", 0.0, 0.0


def model_name(embedder: TextEmbedder) -> str:
    """Return what an object says its model is called, else the name of its class."""
    said = getattr(embedder, "model", None) or getattr(embedder, "model_name", None)
    return said if isinstance(said, str) else f"{type(embedder).__module__}.{type(embedder).__qualname__}"


def cut_pieces(text: str, most: int = PIECE_CHARS) -> list[str]:
    """Cut a text into pieces for a model, at lines where it can be; a blank one has none."""
    pieces = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), most):
            part = line[start : start + most]
            if len(pieces[-1]) + len(part) > most:
                pieces.append("")
            pieces[-1] += part
    return [_sendable(piece) for piece in pieces if piece.strip()]


def _sendable(text: str) -> str:
    """Return a text that every provider can take: no half characters, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\x00", " ").strip()


def _is_content(part: Part) -> Array:
    notes = part.segment.notes
    mask: Array = (notes.columns["kind"] == CONTENT) & part.alive[notes.columns["note"]]
    return mask


def _texts(view: IndexView) -> Array:
    """Return uint64[n], ascending: the different texts that should have a vector."""
    keys = [part.segment.notes.columns["text_hash"][_is_content(part)] for part in view.parts]
    return np.unique(np.concatenate(keys)) if keys else np.zeros(0, dtype=np.uint64)


def _urgency(path: str) -> int:
    if path.startswith(_FIRST_FOLDERS):
        return 0
    return 2 if path.startswith(_LAST_FOLDERS) else 1


def _batches(texts: Iterator[tuple[int, list[str]]]) -> Iterator[list[tuple[int, list[str]]]]:
    batch: list[tuple[int, list[str]]] = []
    for key, pieces in texts:
        if batch and sum(len(other) for _, other in batch) + len(pieces) > BATCH_TEXTS:
            yield batch
            batch = []
        batch.append((key, pieces))
    if batch:
        yield batch


def _checked(vectors: Sequence[Sequence[float]], count: int) -> list[Array]:
    """Return what a provider gave as arrays.

    Raises:
        ValueError: it is not one vector of finite numbers for each text.
    """
    arrays = [np.asarray(vector, dtype=np.float32) for vector in vectors]
    if len(arrays) != count:
        raise ValueError(f"{len(arrays)} vectors for {count} texts")
    if any(array.ndim != 1 or array.shape != arrays[0].shape or not len(array) for array in arrays):
        raise ValueError("the vectors are not lists of numbers of one length")
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("a vector holds something that is not a number")
    return arrays


def _said(error: Exception) -> str:
    """Render what a provider raised, short."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
