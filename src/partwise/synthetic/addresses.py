"""Postal addresses in the American style, every token labelled.

The same kind of grammar that makes sentences makes addresses: a tag is then a
label such as ``StreetName``. Names are ambiguous on purpose: *Ashford* may be a
person, a street or a city, *Lake* a street or the first word of a place.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from partwise.synthetic.coinage import capitalised, coin
from partwise.synthetic.draws import Seed, Table, Uniform, positive, uniforms
from partwise.synthetic.grammar import HeadedGrammar
from partwise.synthetic.lexicon import FIRST_NAMES, PLACE_ENDINGS, SURNAME_ENDINGS

RULES = """
ADDRESS  30  _STREET , _CITY
ADDRESS  14  _STREET _CITY
ADDRESS  12  _WHO , _STREET , _CITY
ADDRESS   8  _WHO _STREET _CITY
ADDRESS   8  _BOX , _CITY
ADDRESS   4  _WHO _BOX , _CITY
ADDRESS   3  _STREET , _BOX , _CITY
ADDRESS   4  _CORNER , _CITY

_STREET  30  _LINE
_STREET   9  _LINE , _UNIT
_STREET   6  _LINE _UNIT
_LINE    34  AddressNumber StreetName StreetNamePostType
_LINE    10  AddressNumber StreetNamePreDirectional StreetName StreetNamePostType
_LINE     7  AddressNumber StreetName-first StreetName StreetNamePostType
_LINE     5  AddressNumber StreetName StreetNamePostType StreetNamePostDirectional
_LINE     7  AddressNumber StreetName-nth StreetNamePostType
_LINE     3  AddressNumber StreetNamePreDirectional StreetName-nth StreetNamePostType
_LINE     5  AddressNumber StreetNamePreType StreetName-number
_LINE     4  AddressNumber StreetName
_UNIT     5  OccupancyType OccupancyIdentifier
_UNIT     2  OccupancyIdentifier-hash

_CITY     8  _PLACE , _STATE ZipCode
_CITY     5  _PLACE _STATE ZipCode
_CITY     2  _PLACE , _STATE
_PLACE    6  PlaceName
_PLACE    3  PlaceName-first PlaceName
_PLACE    1  PlaceName PlaceName-last
_STATE    9  StateName
_STATE    1  StateName-new StateName-mexico

_WHO      5  Recipient-first Recipient-last
_WHO      2  Recipient-first Recipient-initial Recipient-last
_WHO      3  Recipient-last Recipient-firm
_WHO      2  Recipient-last Recipient-and Recipient-last Recipient-firm
_BOX      3  USPSBoxType-po USPSBoxType-box USPSBoxID
_BOX      1  USPSBoxType-box USPSBoxID
_CORNER   2  _ONE IntersectionSeparator _OTHER
_CORNER   1  CornerOf CornerOf-of _ONE IntersectionSeparator _OTHER
_ONE      3  StreetName StreetNamePostType
_ONE      1  StreetName
_OTHER    3  SecondStreetName SecondStreetNamePostType
_OTHER    1  SecondStreetName
"""

WORDS = """
StreetNamePostType          St Ave Rd St. Dr Street Avenue Lane Blvd Road Ct Ln Way Place
SecondStreetNamePostType    St Ave Rd St. Dr Street Avenue
StreetNamePreDirectional    N S W E North South West East N. S. NE SW
StreetNamePostDirectional   NW NE SW SE N S
StreetNamePreType           Highway Route Hwy Road
StreetName-first            Old Lake Forest Green Mill Park New West Spring Martin
OccupancyType               Apt Suite Unit Ste Apt. Room Floor
PlaceName-first             New Lake Port Fort North San West Mount Saint Spring
PlaceName-last              City Beach Park Springs Falls Heights
StateName                   TX CA NY FL OH IL PA GA NC MI WA CO MN OR MO IA Ohio Texas Iowa
StateName-new               New
StateName-mexico            Mexico York Jersey
Recipient-firm              Inc. LLC Company Bank Park Clinic Books School Church
Recipient-and               & and
USPSBoxType-po              PO P.O. Post
USPSBoxType-box             Box box
IntersectionSeparator       & and at
CornerOf                    Corner corner
CornerOf-of                 of
,                           ,
"""  # noqa: E501

# The share of addresses written in capitals, and in small letters, throughout.
ALL_UPPER, ALL_LOWER = 0.08, 0.05


def make_addresses(
    n_addresses: int, random_state: Seed = 0
) -> tuple[list[list[str]], list[list[str]]]:
    """Generate postal addresses, cut into tokens, with a label for each token.

    Labels are named as the United States Thoroughfare standard names the parts
    of an address: AddressNumber, StreetName, PlaceName and so on. Commas stay at
    the token before them, and are often missing.

    Parameters
    ----------
    n_addresses : int
        How many addresses, at least 1.
    random_state : int, numpy.random.Generator or None
        The seed. None gives other addresses each time.

    Returns
    -------
    tokens : list of list of str
        The tokens of each address.
    labels : list of list of str
        Their labels.

    Examples
    --------
    >>> tokens, labels = make_addresses(100)
    >>> len(tokens), len(tokens[0]) == len(labels[0])
    (100, True)
    """
    n_addresses = positive("n_addresses", n_addresses)
    (rng,) = np.random.default_rng(random_state).spawn(1)
    grammar, draw = _postal_grammar(), uniforms(rng)
    tokens, labels = [], []
    for _ in range(n_addresses):
        made = grammar.derive(draw)
        tokens.append(_in_some_case(_with_commas_joined(made.words), draw))
        labels.append([tag for tag in made.tags if tag != ","])
    return tokens, labels


def _with_commas_joined(words: list[str]) -> list[str]:
    tokens: list[str] = []
    for word in words:
        if word == ",":
            tokens[-1] += ","
        else:
            tokens.append(word)
    return tokens


def _in_some_case(tokens: list[str], draw: Uniform) -> list[str]:
    chance = draw()
    if chance < ALL_UPPER:
        return [token.upper() for token in tokens]
    if chance < ALL_UPPER + ALL_LOWER:
        return [token.lower() for token in tokens]
    return tokens


@cache
def _postal_grammar() -> HeadedGrammar:
    lexicon = {}
    for line in WORDS.strip().splitlines():
        symbol, *words = line.split()
        lexicon[symbol] = Table(words)
    places = capitalised(coin(500, 21, PLACE_ENDINGS))
    surnames = capitalised(coin(600, 22, SURNAME_ENDINGS)) + places[:100]
    trees = "Oak Main Park Maple Elm Cedar Lake Mill Hill River Church Pine".split()
    streets = Table(trees + surnames[:200] + places[:150] + FIRST_NAMES)
    house_numbers = [str(number) for number in range(1, 9800, 17)]
    lexicon |= {
        "AddressNumber": _evenly(house_numbers),
        "StreetName": streets,
        "SecondStreetName": streets,
        "StreetName-nth": Table([_ordinal(number) for number in range(1, 120)]),
        "StreetName-number": _evenly([str(number) for number in range(1, 300)]),
        "OccupancyIdentifier": _evenly([*"ABCDEF", *house_numbers[:100], "2B", "14C"]),
        "OccupancyIdentifier-hash": _evenly([f"#{n}" for n in house_numbers[:100]]),
        "PlaceName": Table(places),
        "ZipCode": _evenly([f"{number:05}" for number in range(1001, 99900, 61)]),
        "Recipient-first": Table(FIRST_NAMES),
        "Recipient-last": Table(surnames),
        "Recipient-initial": _evenly([f"{letter}." for letter in "ABCDEFGHJKLM"]),
        "USPSBoxID": _evenly(house_numbers),
    }
    return HeadedGrammar(RULES, lexicon)


def _evenly(words: list[str]) -> Table[str]:
    return Table(words, [1.0] * len(words))


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    teen = 10 < number % 100 < 20
    return f"{number}{'th' if teen else endings.get(number % 10, 'th')}"
