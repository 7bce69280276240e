"""Text in and out: plain files, gzip, standard streams, open file objects.

Every reader and writer of the package goes through this file, so that all of
them take the same sources (a path, ``"-"`` or an open file), recognise gzip,
count lines in the same way, and never leave a half-written file behind.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gzip
import io
import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from partwise._work import tell
from partwise.data import drafts
from partwise.errors import DataError

Source: TypeAlias = str | PathLike[str] | IO[str] | IO[bytes]
Target: TypeAlias = str | PathLike[str] | IO[str] | IO[bytes]

DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
GZIP_MAGIC = b"\x1f\x8b"
BLOCK = 1 << 20
PIECE = 1 << 13
MOST_TIMES, MOST_UNPACKED = 200, 1 << 26
"""How many times its size gzip may unpack to, beyond this many bytes: text is unpacked
to ten times its size at most, and a bomb to a thousand times."""


def source_name(source: Source) -> str:
    """Return the name that messages use for a source.

    Examples
    --------
    >>> source_name("data/train.conll"), source_name("-")
    ('data/train.conll', '<stdin>')
    """
    if isinstance(source, (str, PathLike)):
        return "<stdin>" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<input>"


def read_blocks(
    source: Source, *, encoding: str = "utf-8", size: int = BLOCK
) -> Iterator[str]:
    r"""Yield the text of a source in blocks, lines ending in a plain newline.

    Gzip is recognised by its first bytes, a byte order mark is dropped and
    ``\r\n`` becomes ``\n``. A pipe is passed on as its data arrives.

    Parameters
    ----------
    source : path, "-" or file object
        Where the text is; ``"-"`` is standard input. An open file may give text
        or bytes, and stays open.
    encoding : str, default="utf-8"
        The encoding of the file.
    size : int, default=1048576
        The most bytes read at a time.

    Yields
    ------
    str
        A piece of the text, never empty.

    Examples
    --------
    >>> "".join(read_blocks(io.BytesIO(b"a b\r\nc d\n")))
    'a b\nc d\n'
    """
    name = source_name(source)
    carry = ""  # a "\r" whose "\n" may come with the next block
    first = True
    for block in decoded_blocks(source, name, encoding, size):
        if first:
            block = block.removeprefix("\ufeff")
            first = False
        block = carry + block
        carry = "\r" if block.endswith("\r") else ""
        if carry:
            block = block[:-1]
        if "\r" in block:
            block = block.replace("\r\n", "\n")
        if block:
            yield block
    if carry:
        yield carry


def whole_sentences(
    blocks: Iterable[str], is_blank: Callable[[str], bool]
) -> Iterator[str]:
    r"""Cut a text again, but only after blank lines.

    Examples
    --------
    >>> list(whole_sentences(["a\n\nb", "\nc\n", "\nd"], lambda line: not line))
    ['a\n\n', 'b\nc\n\n', 'd']
    """
    pending = ""
    for block in blocks:
        begin = len(pending)  # no line before it that ends is blank
        pending += block
        end = pending.rfind("\n", begin)
        while end >= 0:
            if is_blank(pending[pending.rfind("\n", 0, end) + 1 : end]):
                yield pending[: end + 1]
                pending = pending[end + 1 :]
                break
            end = pending.rfind("\n", begin, end)
    if pending:
        yield pending


def read_text(source: Source, *, encoding: str = "utf-8") -> str:
    r"""Return the whole text of a source; see `read_blocks`.

    Examples
    --------
    >>> read_text(io.BytesIO(gzip.compress(b"Paris NNP\n")))
    'Paris NNP\n'
    """
    return "".join(read_blocks(source, encoding=encoding))


def read_lines(source: Source, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    r"""Yield ``(number, line)`` for each line, from 1, without its newline.

    Gzip is recognised, a byte order mark dropped, and what cannot be decoded refused
    with the number of its line.

    Parameters
    ----------
    source : path, "-" or file object
        Where the text is; ``"-"`` is standard input.
    encoding : str, default="utf-8"
        The encoding of the file.

    Yields
    ------
    tuple
        The number of a line, and the line.

    Examples
    --------
    >>> list(read_lines(io.StringIO("a\n\nb")))
    [(1, 'a'), (2, ''), (3, 'b')]
    """
    number = 1
    pending: list[str] = []
    for block in read_blocks(source, encoding=encoding):
        *complete, rest = block.split("\n")
        if complete:
            complete[0] = "".join(pending) + complete[0]
            pending = []
            yield from enumerate(complete, number)
            number += len(complete)
        pending.append(rest)
    last = "".join(pending)
    if last:
        yield number, last


def decoded_blocks(
    source: Source, name: str, encoding: str, size: int
) -> Iterator[str]:
    """Decode the blocks of a source; errors name the line."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with _opened(source, name) as stream:
        how_far = _how_far(source, stream)
        for raw in _blocks(stream, name, size):
            tell(f"reading {os.path.basename(name)}", how_far())
            try:
                block = raw if isinstance(raw, str) else decoder.decode(raw)
            except UnicodeDecodeError as error:
                raise _undecodable(name, line, encoding, error) from None
            line += block.count("\n")
            if block:
                yield block
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise _undecodable(name, line, encoding, error) from None


def _undecodable(
    name: str, line: int, encoding: str, error: UnicodeDecodeError
) -> DataError:
    readable = error.object[: error.start].decode(encoding, errors="replace")
    return DataError(
        f"byte 0x{error.object[error.start]:02x} is not valid {encoding.upper()} "
        "(convert the file to UTF-8, or name its encoding)",
        path=name,
        line=line + readable.count(chr(10)),
    )


def _how_far(source: Source, stream: IO[Any]) -> Callable[[], float]:
    """Return what says which fraction of a file has been read; 0 if nobody knows."""
    if not isinstance(source, (str, PathLike)) or source == "-":
        return lambda: 0.0
    size = os.fstat(stream.fileno()).st_size
    return lambda: stream.tell() / size if size else 0.0


@contextlib.contextmanager
def _opened(source: Source, name: str) -> Iterator[IO[Any]]:
    """Open a path or standard input; an open file is passed on and stays open."""
    if not isinstance(source, (str, PathLike)):
        yield source
    elif source == "-":
        if sys.stdin is None:
            raise DataError("standard input is closed; name a file instead of -")
        # A replaced sys.stdin (a test, a notebook) may have text only.
        yield getattr(sys.stdin, "buffer", sys.stdin)
    else:
        try:
            stream = open(source, "rb")
        except FileNotFoundError:
            raise DataError("no such file (check the path)", path=name) from None
        except IsADirectoryError:
            raise DataError("is a folder, not a file", path=name) from None
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", path=name) from error
        with stream:
            yield stream


def _blocks(stream: IO[Any], name: str, size: int) -> Iterator[str | bytes]:
    """Yield what a stream gives, unpacked when it is gzip."""
    # read1 returns what a pipe holds so far; read would wait for a full block.
    read = getattr(stream, "read1", stream.read)
    first = read(size)
    if isinstance(first, str):
        yield from _rest(first, read, size)
        return
    while first and len(first) < len(GZIP_MAGIC):
        more = read(size)
        if not more:
            break
        first += more
    blocks = _rest(first, read, size)
    if first and first.startswith(GZIP_MAGIC):
        blocks = _unzipped(blocks, name)
    yield from blocks


def _rest(block: Any, read: Any, size: int) -> Iterator[Any]:
    """Yield a block and all that follow it."""
    while block:
        yield block
        block = read(size)


def _pieces(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        for at in range(0, len(block), size):
            yield block[at : at + size]


def _unzipped(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Unpack gzip, which may be several members one after the other."""
    gunzip = zlib.decompressobj(wbits=31)
    packed = unpacked = 0
    # In small pieces, since what follows the end of a member is copied.
    for block in _pieces(blocks, PIECE):
        packed += len(block)
        while block:
            if gunzip.eof:
                block = block.lstrip(b"\0")  # padding between members is legal
                if not block:
                    break
                gunzip = zlib.decompressobj(wbits=31)
            try:
                text = gunzip.decompress(block)
            except zlib.error as error:
                raise DataError(
                    f"damaged gzip data ({error}; get the file again)", path=name
                ) from None
            unpacked += len(text)
            if unpacked > MOST_UNPACKED + MOST_TIMES * packed:
                raise DataError(
                    f"gzip data that unpacks to over {MOST_TIMES} times its size, "
                    "as no text does (use gunzip if it is what it should be)",
                    path=name,
                )
            yield text
            block = gunzip.unused_data
    if not gunzip.eof:
        raise DataError("gzip data ends too early (get the file again)", path=name)


@contextlib.contextmanager
def open_output(target: Target) -> Iterator[IO[str]]:
    r"""Open a target for UTF-8 text; a file appears complete or not at all.

    A path is written to a temporary file next to it, which takes its name when the
    block ends without an error, and is removed otherwise. A name that ends in
    ``.gz`` is packed. Standard output (``"-"``) and open files are flushed, not
    closed; devices and pipes are written directly.

    Parameters
    ----------
    target : path, "-" or file object
        Where the text goes.

    Yields
    ------
    file object
        Takes text.

    Examples
    --------
    >>> buffer = io.BytesIO()
    >>> with open_output(buffer) as out:
    ...     _ = out.write("Paris B-LOC\n")
    >>> buffer.getvalue()
    b'Paris B-LOC\n'
    """
    if not isinstance(target, (str, PathLike)):
        with _as_text(target) as out:
            yield out
    elif target == "-":
        if sys.stdout is None:
            raise DataError("standard output is closed; name a file instead of -")
        with _as_text(getattr(sys.stdout, "buffer", sys.stdout)) as out:
            yield out
    else:
        # What was written once can be written again: no need to wait for the disk.
        with replace_file(target, durable=False) as binary:
            if os.fspath(target).endswith(".gz"):
                with _gzip_to(binary) as packed, _as_text(packed) as out:
                    yield out
            else:
                with _as_text(binary) as out:
                    yield out


def _gzip_to(binary: IO[bytes]) -> IO[bytes]:
    # No name and no time in the header: equal text, equal bytes.
    return cast(IO[bytes], gzip.GzipFile("", "wb", 6, binary, mtime=0))


@contextlib.contextmanager
def _as_text(stream: IO[Any]) -> Iterator[IO[str]]:
    """Lend a text view of a stream, which stays open."""
    mode = getattr(stream, "mode", None)  # gzip's is a number
    if isinstance(stream, io.TextIOBase) or (isinstance(mode, str) and "b" not in mode):
        yield stream
        stream.flush()
        return
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
    try:
        yield text
        text.flush()
    finally:
        text.detach()


@contextlib.contextmanager
def replace_file(
    path: str | PathLike[str], *, durable: bool = True
) -> Iterator[IO[bytes]]:
    """Replace a file as a whole: the old one stays until the new one is complete.

    Parameters
    ----------
    path : path
        The file to make or replace. A symbolic link keeps pointing where it
        does; a device or a pipe is written directly.
    durable : bool
        Wait until it is on the disk, so that a power cut right afterwards cannot lose
        it; for what took long to make.

    Yields
    ------
    file object
        Takes bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model"
    >>> with replace_file(path) as out:
    ...     _ = out.write(b"complete")
    >>> path.read_bytes()
    b'complete'
    """
    goal = Path(os.path.realpath(path))
    if goal.exists() and not goal.is_file() and not goal.is_dir():
        with naming(path), goal.open("wb") as device:
            yield device
        return
    if goal.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder, not a file", str(path))
    drafts.remove_orphans(goal)
    try:
        draft, stream = drafts.begin(goal)
    except OSError as error:  # name the file that was asked for, not the draft
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with naming(path), stream:
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        if goal.exists():
            shutil.copymode(goal, draft)
        draft.replace(goal)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Let the error of a full disk say which file was being written.

    Examples
    --------
    >>> with naming("model.partwise"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
        ...
    OSError: [Errno 28] No space left on device: 'model.partwise'
    """
    try:
        yield
    except OSError as error:
        if error.errno in DISK_IS_FULL:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
