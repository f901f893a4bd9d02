"""Numbers over pairs and bodies with their intervals, and tables of Markdown."""

import random
import statistics

DRAWS = 2000


def table(head, rows):
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def interval(values, of=statistics.fmean, seed=1):
    """A number of a sample with its 95 % interval, by drawing with replacement."""
    draw = random.Random(seed)
    drawn = sorted(of(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return of(values), drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS) - 1]


def short(number):
    """Two places, without a leading zero."""
    return f"{number:.2f}".replace("0.", ".", 1)


def bracketed(numbers):
    """A number with its interval."""
    value, low, high = map(short, numbers)
    return f"{value} [{low}, {high}]"


def ranks(values):
    """From the smallest; equal ones share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for place in order[begin:end]:
            found[place] = (begin + end - 1) / 2
        begin = end
    return found


def rank_correlation(pairs):
    """Spearman's, of a list of pairs; 0 where one side is constant."""
    sides = [ranks(side) for side in zip(*pairs)]
    return 0.0 if any(len(set(side)) < 2 for side in sides) else statistics.correlation(*sides)
