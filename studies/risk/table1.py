"""What finding a failure costs, over agents: Table 1 of Uesato et al. (2018).

    python studies/risk/table1.py driving [RUNS SEED …]

For each agent, one training run of its own seed in RUNS/driving-SEED:

1. train it, as its card says, with its history and forty policies;
2. play 2,000 episodes of every policy, which are used for nothing else;
3. the policy under test is the one that failed most rarely, but at least twice (the earlier of equals); its predictors learn
   from 5,000 episodes each of the policies that failed in 4 to 50 of 100;
4. search for its first failure, up to 500 experiments: twenty times by random draws and by replay; ten times, as each
   experiment compares a thousand draws, by the most dangerous of 1,000 draws, with networks and with a dictionary.

Everything that is finished is not done again. All agents are searched without predictors first, then with networks. Writes
studies/risk/driving/agents.csv, a row for each agent and strategy; rows of agents that are not named stay. Prints the
smallest, median and largest cost over agents. Then it compares strategies agent by agent: the geometric mean of how many
times fewer experiments one takes than the other, with the interval of Student's t on the logarithms, and the exact sign
test. Where the costs of both are experiments to a failure, these are compared, else those of searches that give up. Without
seeds it prints the tables of the file. The program `offnominal` must be on the path. Needs pandas and scipy.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess

import pandas
from scipy import stats

HERE = pathlib.Path(__file__).resolve().parent
AGENTS = HERE.parents[1] / "agents"
LEARN = {"driving": ["--steps", "8000", "--members", "3"], "humanoid-stand": ["--steps", "3000"]}
BUDGET = {"driving": 500, "humanoid-stand": 500}
SURVEY = {"driving": 2000, "humanoid-stand": 200}
WEAKER = {"driving": 5000, "humanoid-stand": 500}


def offnominal(*words: object) -> dict:
    """Runs a command and returns what it says."""
    command = ["offnominal", *map(str, words), "--json", "--quiet"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout) if done.stdout else {}


def train(env: str, seed: int, folder: pathlib.Path) -> pathlib.Path:
    """The folder of the policies; the shipped agent is not trained again."""
    card = json.loads((AGENTS / f"{env}-tqc.json").read_text())
    shipped = AGENTS / f"{env}-tqc" / "policies"
    if seed == card["seed"]:
        return shipped
    if not (folder / "policy.json").is_file():
        words = [word.strip("'") for word in card["command"].split()[1:-2]]
        subprocess.run(["offnominal", *words, "--seed", str(seed), "--out", str(folder), "--quiet"], check=True)
    return folder / "policies"


def roles(policies: list[dict]) -> tuple[dict, list[int]]:
    """The policy under test, and the steps of those from which its predictor learns."""
    failing = [row for row in policies if row["failures"] >= 2]
    tested = min(failing, key=lambda row: (row["failures"], row["step"]))
    share = {row["step"]: row["failures"] / row["episodes"] for row in policies}
    return tested, [step for step, share in share.items() if 0.04 <= share <= 0.5]


# The strategies with each form of predictors, or with none, and the number of searches.
FORMS = {"": (["random", "replay"], 20), "networks": (["argmax"], 10), "dictionary": (["argmax"], 10)}


def under_test(env: str, seed: int, folder: pathlib.Path) -> tuple[dict, list[int], pathlib.Path]:
    """The policy of an agent that is searched, the steps of those from which its predictors learn, and all its policies."""
    policies = train(env, seed, folder)
    play = ("risk", "learn", "--env", env, "--history-only")
    survey = offnominal(*play, "--policy", policies, "--episodes", SURVEY[env], "--seed", 11, "--out", folder / "survey")
    tested, weaker = roles(survey["played"]["policies"])
    several = [word for step in weaker for word in ("--policy", policies / f"{step:09}.safetensors")]
    offnominal(*play, *several, "--episodes", WEAKER[env], "--seed", 3, "--out", folder / "past")
    return tested, weaker, policies


def predictor(env: str, past: pathlib.Path, form: str, folder: pathlib.Path) -> list[object]:
    """The options with which searches read a predictor that was learned from a history; without a form, none."""
    if not form:
        return []
    file = folder / form / "predictor.safetensors"
    if not file.is_file():
        how = ["--form", form] if form != "networks" else []
        offnominal("risk", "learn", "--env", env, "--history", past, *LEARN[env], *how, "--seed", 1, "--out", file.parent)
    return ["--of", 1000, "--predictor", file]


def agent(env: str, seed: int, runs: pathlib.Path, form: str) -> list[dict]:
    """The rows of one agent with predictors of one form, or without any."""
    folder = runs / f"{env}-{seed}"
    tested, weaker, policies = under_test(env, seed, folder)
    past = folder / "past" / "history.safetensors"
    strategies, searches = FORMS[form]
    chosen = [word for strategy in strategies for word in ("--strategy", strategy)]
    found = offnominal("risk", "search", "--env", env, "--policy", policies / f"{tested['step']:09}.safetensors", *chosen,
                       *predictor(env, past, form, folder), "--history", past, "--searches", searches,
                       "--budget", BUDGET[env], "--seed", 1, "--out", folder / f"search-{form or 'plain'}")  # fmt: skip
    return [
        {"env": env, "seed": seed, "step": tested["step"], "survey_failures": tested["failures"],
         "weaker": len(weaker), "predictor": form, **row}
        for row in costs(found)
    ]  # fmt: skip


def costs(found: dict) -> list[dict]:
    """A row for each strategy of a search; a cost is that of a search which gives up where draws do not come of one law."""
    rows = []
    for strategy in found["strategies"]:
        row = strategy["policies"][0]
        cost = row["expected_cost"] or row["restricted_cost"]
        rows.append({"strategy": strategy["strategy"], "failures": row["failures"], "searches": row["searches"],
                     "is_expected": row["expected_cost"] is not None, "cost": cost["value"],
                     "low": cost["low"], "high": cost["high"], "restricted_cost": row["restricted_cost"]["value"]})  # fmt: skip
    return rows


PAIRS = [
    ("random", "replay"),
    ("random", "argmax-1000 networks"),
    ("random", "argmax-1000 dictionary"),
    ("replay", "argmax-1000 networks"),
    ("replay", "argmax-1000 dictionary"),
    ("argmax-1000 dictionary", "argmax-1000 networks"),
]


def logs(one: pandas.DataFrame, other: pandas.DataFrame) -> list[float]:
    """The logarithm of how many times fewer experiments the second one takes, for each agent that has both."""
    both = one.set_index("seed").join(other.set_index("seed").add_suffix("_other"), how="inner")
    column = "cost" if both.is_expected.all() and both.is_expected_other.all() else "restricted_cost"
    return [math.log(a / b) for a, b in zip(both[column], both[f"{column}_other"], strict=True)]


def compare(table: pandas.DataFrame) -> None:
    """Prints the paired comparisons of strategies."""
    of = {f"{strategy} {predictor}".strip(): part for (strategy, predictor), part in table.groupby(["strategy", "predictor"])}
    print("\n| strategy | against | times fewer experiments | agents in which it takes fewer | p, sign test |\n|---|---|---|---|---|")
    for against, strategy in PAIRS:
        if against not in of or strategy not in of:
            continue
        ratios = logs(of[against], of[strategy])
        n, wins = len(ratios), sum(ratio > 0 for ratio in ratios)
        if n < 2:
            continue
        mean, error = statistics.fmean(ratios), statistics.stdev(ratios) / math.sqrt(n)
        half = stats.t.ppf(0.975, n - 1) * error
        value, low, high = (f"{math.exp(log):.3g}" for log in (mean, mean - half, mean + half))
        p = stats.binomtest(wins, n).pvalue
        print(f"| {strategy} | {against} | {value} [{low}, {high}] | {wins} of {n} | {p:.3f} |")


def main() -> None:
    """Runs what is missing and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", choices=list(LEARN))
    parser.add_argument("runs", nargs="?", type=pathlib.Path, help="folder of the runs; without seeds it may be left out")
    parser.add_argument("seeds", nargs="*", type=int)
    args = parser.parse_args()
    env, runs, seeds = args.env, args.runs, args.seeds
    file = HERE / ("humanoid" if env == "humanoid-stand" else env) / "agents.csv"
    rows = [pandas.read_csv(file).query("seed not in @seeds")] if seeds and file.is_file() else []
    for form in FORMS if seeds else []:
        for seed in seeds:
            rows.append(pandas.DataFrame(agent(env, seed, runs, form)))
        pandas.concat(rows).to_csv(file, index=False, float_format="%.5g")
    table = pandas.read_csv(file, dtype={"predictor": str}).fillna({"predictor": ""})
    print("| strategy | agents | min | median | max |\n|---|---|---|---|---|")
    for (strategy, predictor), part in table.groupby(["strategy", "predictor"], sort=False):
        cost = [part.cost.min(), statistics.median(part.cost), part.cost.max()]
        print(f"| {strategy} {predictor} | {len(part)} | " + " | ".join(f"{value:.3g}" for value in cost) + " |")
    compare(table)


if __name__ == "__main__":
    main()
