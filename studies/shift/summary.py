#!/usr/bin/env python3
"""Compares the runs of `offnominal shift` in a folder, and writes `summary.md` there.

    python3 studies/shift/summary.py studies/shift

One folder for each environment, with the `answers.csv` of its run. Returns are those of
`agents/shift/agents.csv`, in 200 fresh episodes each, with the publication's Table 3.
"""

import csv
import pathlib
import statistics
import sys

ENVIRONMENTS = ["hopper", "walker", "ant", "half-cheetah-m"]
ALGORITHMS = {"td3": "TD3", "sac-0.05": "SAC, α = 0.05", "sac-0.2": "SAC, α = 0.2"}
# Mean and standard error over 50 (TD3) or 10 seeds, as published.
PUBLISHED = {
    "td3": ["2186 ± 13", "1816 ± 18", "2723 ± 12", "2253 ± 12"],
    "sac-0.05": ["2250 ± 49", "1781 ± 8", "2191 ± 46", "2360 ± 25"],
    "sac-0.2": ["2208 ± 15", "916 ± 28", "905 ± 10", "808 ± 6"],
}
SCORES = ["difference", "tpr", "tpr-states", "tpr@1", "knn@1", "pe-dm@1"]
DETECTORS = ["knn@1", "pe-dm@1"]
SKILLS = ["difference", "tpr", "tpr-states"]
CORRELATION = "rank correlation with the return gap"
ADVANTAGE = "advantage over the internal model in rank correlation"
SKILL, BEATEN = "skill on bodies left out", "share of bodies on which nominal policies beat toplines"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def interval(row, digits=2):
    return f"{float(row['value']):.{digits}f} [{float(row['low']):.{digits}f}, {float(row['high']):.{digits}f}]"


def table(head, body):
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def returns():
    agents = rows(pathlib.Path(__file__).resolve().parents[2] / "agents" / "shift" / "agents.csv")
    body = []
    for algorithm, name in ALGORITHMS.items():
        ours = []
        for env in ENVIRONMENTS:
            found = [float(row["value"]) for row in agents if row["policy"].rsplit("-", 1)[0] == f"{env}-{algorithm}"]
            ours.append(f"{statistics.mean(found):.0f} ({', '.join(f'{value:.0f}' for value in found)})")
        body += [[name, "here", *ours], ["", "published", *PUBLISHED[algorithm]]]
    return table(["", "", *ENVIRONMENTS], body)


def harm(answers):
    body = []
    for env in answers:
        for row in answers[env]:
            if row["metric"] == "return below 0.5 of the nominal return" and row["score"] == "every body":
                same = lambda other: (other["score"], other["sigma"]) == (row["score"], row["sigma"])
                slight = [other for other in answers[env] if other["metric"].startswith("return below 0.8") and same(other)]
                body.append([env, row["sigma"], interval(row), interval(slight[0])])
    return table(["environment", "σ", "below a half", "below 0.8"], body)


def toplines(answers):
    trained = rows(pathlib.Path(__file__).parent / "toplines.csv")
    body = []
    for env in answers:
        returns = [f"{float(row['value']):.0f}" for row in trained if row["policy"].rsplit("-", 2)[0] == env]
        beaten = {row["sigma"]: interval(row) for row in answers[env] if row["metric"] == BEATEN}
        if beaten:
            body.append([env, ", ".join(returns), *[beaten[sigma] for sigma in ("0.05", "0.1", "0.2")]])
    return table(["environment", "return over the bodies", "σ = 0.05", "σ = 0.1", "σ = 0.2"], body)


def scores(answers, question, which):
    body = []
    for env in answers:
        for algorithm, name in ALGORITHMS.items():
            found = {
                row["score"]: interval(row)
                for row in answers[env]
                if row["algorithm"] == algorithm and row["metric"] == question and not row["sigma"]
            }
            if found:
                body.append([env, name, *[found.get(by, "–") for by in which]])
    return table(["environment", "policies", *[f"`{by}`" for by in which]], body)


def main():
    folder = pathlib.Path(sys.argv[1])
    answers = {env: rows(folder / env / "answers.csv") for env in ENVIRONMENTS if (folder / env / "answers.csv").exists()}
    parts = [
        "# Shift: all environments\n",
        "Written by `python3 studies/shift/summary.py studies/shift`; [README.md](README.md) has the reading.\n",
        "## Return on the nominal body\n",
        "Mean over seeds (each seed). Here: small networks and 300,000 steps. Published: Table 3, policies trained in PyBullet.\n",
        returns(),
        "## How likely is harm\n",
        "Share of bodies on which the mean return over all policies falls below a half, or 0.8, of that on the nominal body, with the exact 95 % interval.\n",
        harm(answers),
        "## Can the return gap be predicted without a reward\n",
        "Spearman's correlation with the return gap over policies and bodies, with 95 % intervals that resample both. `difference` knows the body; `tpr` and `tpr-states` are the internal model's shares of true positives (they fall where the return falls); `@1` means after one episode.\n",
        scores(answers, CORRELATION, SCORES),
        "Difference of the absolute correlations of a detector and of the internal model with actions, both after one episode.\n",
        scores(answers, ADVANTAGE, DETECTORS),
        "Skill of the regressions on bodies that they have not seen, 1 − (error / error of the mean)².\n",
        scores(answers, SKILL, SKILLS),
        "## Toplines\n",
        "Two TD3 policies for each environment, trained on its 150 bodies, with one body in each episode; and the share of bodies on which the mean of the nominal policies is better.\n",
        toplines(answers),
    ]
    (folder / "summary.md").write_text("\n".join(parts))


main()
