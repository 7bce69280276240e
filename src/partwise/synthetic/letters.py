"""Words in a shaky hand: noisy bitmaps of letters, one letter per row.

Single letters are hard to tell apart (c, e and o; h and n; i, j and l), but the
words are English, so a model that knows which letter follows which does better.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from partwise.synthetic.draws import Seed, positive, probability
from partwise.synthetic.lexicon import (
    ADJECTIVES,
    INTRANSITIVE,
    NOUNS,
    NOUNS_OR_VERBS,
    TRANSITIVE,
)

# For the letters that the other lists hardly use.
RARE_LETTERS = """
prize zone dozen lazy frozen size jazz zebra puzzle box fox tax expert mixture
queen quick square quarter equal juice jungle jacket major object voyage
""".split()

HEIGHT, WIDTH = 16, 8
GLYPH_HEIGHT, GLYPH_WIDTH = 8, 5
ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# Nine letters a band: two rows above the line of small letters, four rows of
# body, two rows below.
FONT = """
..... #.... ..... ....# ..... ..##. ..... #.... ..#..
..... #.... ..... ....# ..... .#... ..... #.... .....
.###. ####. .###. .#### .###. ####. .#### ####. .##..
....# #...# #.... #...# ##### .#... #...# #...# ..#..
.#### #...# #...# #...# #.... .#... #...# #...# ..#..
.#### ####. .###. .#### .###. .#... .#### #...# .###.
..... ..... ..... ..... ..... ..... ....# ..... .....
..... ..... ..... ..... ..... ..... .###. ..... .....

...#. #.... .##.. ..... ..... ..... ..... ..... .....
..... #.... ..#.. ..... ..... ..... ..... ..... .....
..##. #..#. ..#.. ##.#. ####. .###. ####. .#### #.##.
...#. ###.. ..#.. #.#.# #...# #...# #...# #...# ##..#
...#. #..#. ..#.. #.#.# #...# #...# #...# #...# #....
...#. #...# .###. #.#.# #...# .###. ####. .#### #....
#..#. ..... ..... ..... ..... ..... #.... ....# .....
.##.. ..... ..... ..... ..... ..... #.... ....# .....

..... .#... ..... ..... ..... ..... ..... .....
..... .#... ..... ..... ..... ..... ..... .....
.#### ####. #...# #...# #...# #...# #...# #####
###.. .#... #...# #...# #.#.# .#.#. #...# ...#.
...## .#... #...# .#.#. #.#.# .#.#. #...# .#...
####. ..##. .#### ..#.. .#.#. #...# .#### #####
..... ..... ..... ..... ..... ..... ....# .....
..... ..... ..... ..... ..... ..... .###. .....
"""


def make_letters(
    n_words: int, random_state: Seed = 0, noise: float = 0.08
) -> tuple[list[NDArray[np.float64]], list[list[str]]]:
    """Generate words as rows of bitmaps, 16 by 8 pixels per letter.

    Every word has its own slant and size, every letter its own place, and some
    pixels are flipped.

    Parameters
    ----------
    n_words : int
        How many words, at least 1; drawn from a few hundred English ones.
    random_state : int, numpy.random.Generator or None
        The seed. None gives other words each time.
    noise : float
        The probability that a pixel is flipped.

    Returns
    -------
    images : list of array of shape (n_letters, 128)
        The pixels of each word's letters, row by row, 0.0 or 1.0.
    letters : list of list of str
        The letters of each word.

    Examples
    --------
    >>> images, letters = make_letters(10)
    >>> images[0].shape == (len(letters[0]), 128)
    True
    """
    n_words = positive("n_words", n_words)
    noise = probability("noise", noise)
    rng = np.random.default_rng(random_state)
    lexicon = _words()
    chosen = (rng.random(n_words) * len(lexicon)).astype(np.int64)
    words = [lexicon[index] for index in chosen.tolist()]

    lengths = np.array([len(word) for word in words])
    codes = np.frombuffer("".join(words).encode(), dtype=np.uint8) - ord("a")
    images = _write(codes.astype(np.int64), lengths, rng)
    flipped = rng.random(images.shape) < noise
    pixels = (images ^ flipped).astype(np.float64)
    ends = np.cumsum(lengths)
    return np.split(pixels, ends[:-1]), [list(word) for word in words]


def _write(
    codes: NDArray[np.int64], lengths: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw letters in a different hand for every word.

    Each pixel looks up, between the four nearest pixels of the font, how dark the
    place is that it comes from.
    """

    def hand(low: float, high: float) -> NDArray[np.float64]:
        one_a_word = low + (high - low) * rng.random(len(lengths))
        return np.repeat(one_a_word, lengths)[:, None, None]

    def jitter(low: float, high: float) -> NDArray[np.float64]:
        one_a_letter = low + (high - low) * rng.random(len(codes))
        return one_a_letter[:, None, None]

    slant = hand(-0.25, 0.25) + jitter(-0.15, 0.15)
    height = hand(0.85, 1.1) * jitter(0.9, 1.1)
    width = hand(0.75, 1.1) * jitter(0.9, 1.1)
    rows = np.arange(HEIGHT)[None, :, None] - (HEIGHT - 1) / 2
    columns = np.arange(WIDTH)[None, None, :] - (WIDTH - 1) / 2
    y = (rows / height) * (GLYPH_HEIGHT / HEIGHT)
    x = ((columns + slant * rows) / width) * (GLYPH_WIDTH / WIDTH)
    y = y + (GLYPH_HEIGHT - 1) / 2 + jitter(-0.6, 0.6)
    x = x + (GLYPH_WIDTH - 1) / 2 + jitter(-0.6, 0.6)

    # A margin of two empty pixels lets every lookup near the edge find something.
    font = np.pad(_font(), ((0, 0), (2, 2), (2, 2)))
    y = np.clip(y + 2, 0, GLYPH_HEIGHT + 2.5)
    x = np.clip(x + 2, 0, GLYPH_WIDTH + 2.5)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    down, right = y - top, x - left
    letter = codes[:, None, None]
    darkness = (
        font[letter, top, left] * (1 - down) * (1 - right)
        + font[letter, top, left + 1] * (1 - down) * right
        + font[letter, top + 1, left] * down * (1 - right)
        + font[letter, top + 1, left + 1] * down * right
    )
    return (darkness > 0.45).reshape(len(codes), HEIGHT * WIDTH)


@cache
def _words() -> tuple[str, ...]:
    everyday = NOUNS + NOUNS_OR_VERBS + ADJECTIVES + TRANSITIVE + INTRANSITIVE
    distinct = dict.fromkeys(everyday + RARE_LETTERS)
    return tuple(word for word in distinct if len(word) > 2)


@cache
def _font() -> NDArray[np.float64]:
    """Return the glyphs as an array of shape (26, 8, 5)."""
    glyphs = []
    for band in FONT.strip().split("\n\n"):
        rows = [line.split() for line in band.splitlines()]
        for column in range(len(rows[0])):
            glyphs.append([[dot == "#" for dot in row[column]] for row in rows])
    return np.array(glyphs, dtype=np.float64)
