"""The one place where money is computed: from counted tokens and a price to USD.

Prices are USD per million tokens. What is written to a cache costs a factor on the input price that depends on how
long the cache keeps it; what is read from it costs a share of the input price.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from course_lib.retrieval import Usage

Lifetime: TypeAlias = Literal["5 minutes", "1 hour"]

LIFETIMES: tuple[Lifetime, ...] = get_args(Lifetime)
MINUTES: dict[str, int] = {"5 minutes": 5, "1 hour": 60}
MILLION = 10**6
HIGHEST = 10**6  # USD per million tokens; beyond that somebody has mixed up the unit
MOST_TOKENS = 10**15


@dataclass(frozen=True)
class Price:
    """What a model charges, in USD per million tokens, and what its cache and its window take, in tokens.

    `read` is the share of the input price that a token read from the cache costs, from 0 to 1; the write factors are
    1 or more. A prefix shorter than `minimum_prefix` is never cached. Raises ValueError for anything else.
    """

    name: str
    input: float
    output: float
    read: float
    write_5_minutes: float
    write_1_hour: float
    minimum_prefix: int = 1024
    window: int = 200_000

    def __post_init__(self) -> None:
        for field in ("input", "output"):
            _within(field, getattr(self, field), 0, HIGHEST)
        _within("read", self.read, 0, 1)
        for field in ("write_5_minutes", "write_1_hour"):
            _within(field, getattr(self, field), 1, 100)
        for field in ("minimum_prefix", "window"):
            whole("Price." + field, getattr(self, field))

    def write(self, lifetime: Lifetime) -> float:
        """Return the factor on the input price for a token that is written to a cache of that lifetime."""
        minutes_of(lifetime)
        return self.write_5_minutes if lifetime == "5 minutes" else self.write_1_hour


def _within(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}, but a number from {low} to {high} is needed")


def whole(name: str, value: object) -> None:
    """Raise ValueError, naming `name`, where `value` is no whole number from 0 to 10**15: a count of tokens."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise ValueError(f"{name} is {value!r}, but a whole number of tokens from 0 to 10**15 is needed")


def minutes_of(lifetime: str) -> int:
    """Return how many minutes a cache entry of that lifetime stays. Raises ValueError for another lifetime."""
    if lifetime not in MINUTES:
        raise ValueError(f"There is no cache lifetime {lifetime!r}; there is {' and '.join(MINUTES)}.")
    return MINUTES[lifetime]


def load_prices(path: Path) -> dict[str, Price]:
    """Return the presets of a price file by name, in the order of the file.

    Raises ValueError, naming the preset, where one of them is incomplete or out of bounds.
    """
    presets: list[Mapping[str, object]] = json.loads(path.read_text(encoding="utf-8"))["presets"]
    prices = {}
    for preset in presets:
        try:
            price = Price(**preset)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path.name}, preset {preset.get('name')!r}: {error}") from error
        prices[price.name] = price
    return prices


def bill(usage: Usage, price: Price, lifetime: Lifetime = "5 minutes") -> dict[str, float]:
    """Return what each kind of token costs, in USD: fresh, read, written, output.

    >>> round_numbers = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
    >>> {kind: round(usd, 4) for kind, usd in bill(Usage(300, cached=30_000), round_numbers).items()}
    {'fresh': 0.0009, 'read': 0.009, 'written': 0.0, 'output': 0.0}
    """
    for name, count in vars(usage).items():
        whole(name, count)
    per_token = price.input / MILLION
    return {
        "fresh": usage.fresh * per_token,
        "read": usage.cached * per_token * price.read,
        "written": usage.written * per_token * price.write(lifetime),
        "output": usage.output * price.output / MILLION,
    }


def cost(usage: Usage, price: Price, lifetime: Lifetime = "5 minutes") -> float:
    """Return what the counted tokens cost, in USD. `lifetime` sets the price of those that were written to a cache.

    >>> round_numbers = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
    >>> round(cost(Usage(fresh=30_300), round_numbers), 4)
    0.0909
    """
    return sum(bill(usage, price, lifetime).values())
