"""Fit times of the usual Python stack on episodes of Offnominal, beside ours.

    pip install torch scikit-learn pyarrow          # the CPU build of torch is enough
    offnominal collect --env mjc-half-cheetah --policy tqc --episodes 100 --out runs/fit
    cargo build --release -p studies
    python bench/python/fit_times.py runs/fit/FILE.arrow target/release/studies --epochs 10

PyTorch and scikit-learn get one thread, as ours has. Networks, batches, optimiser and epochs are the same on both
sides: PE-DM is five networks 512-256-128 on batches of 256 with a Gaussian likelihood and members trained on episodes
drawn with replacement, LSTM-DM one layer of 256 and a layer of 128 on eight episodes side by side in pieces of 32 steps.
scikit-learn has the parameters of Anomaly-Gym, Table 11. Each is fitted once, ours right after theirs; scikit-learn's
also score the observations they were fitted on, since a search among neighbours may do its work before or after: all at
once there, one by one as they would arrive here. Seconds are those of the processor.
"""

import argparse
import json
import subprocess
import time

import numpy as np
import pyarrow.ipc
import torch
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import OneClassSVM
from torch import nn

BATCH, HIDDEN, MEMBERS = 256, (512, 256, 128), 5
SIDE_BY_SIDE, PIECE = 8, 32


def episodes(path):
    """Observations [T + 1, obs] and commands [T, act] of each episode."""
    with pyarrow.ipc.open_file(path) as file:
        for i in range(file.num_record_batches):
            batch = file.get_batch(i)
            rows = lambda name: np.stack(batch.column(name).to_numpy(zero_copy_only=False)).astype(np.float32)
            yield rows("observations"), rows("actions")[:-1]


def standardise(rows):
    scale = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1)


def rows_of(data):
    """Inputs and targets of a dynamics model, standardised over all episodes, with the length of each."""
    inputs = standardise(np.concatenate([np.hstack([obs[:-1], act]) for obs, act in data]))
    targets = standardise(np.concatenate([np.diff(obs, axis=0) for obs, _ in data]))
    return torch.from_numpy(inputs), torch.from_numpy(targets), [len(act) for _, act in data]


def dense(sizes, activation):
    layers = []
    for n_in, n_out in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(n_in, n_out), activation()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class Gaussian(nn.Module):
    """Mean and bounded log variance of each channel."""

    def __init__(self, n_in, d):
        super().__init__()
        self.net = dense([n_in, *HIDDEN, 2 * d], nn.LeakyReLU)
        self.most = nn.Parameter(torch.full((d,), 0.5))
        self.least = nn.Parameter(torch.full((d,), -10.0))

    def loss(self, x, target):
        mean, raw = self.net(x).chunk(2, dim=1)
        upper = self.most - nn.functional.softplus(self.most - raw)
        log_variance = self.least + nn.functional.softplus(upper - self.least)
        square = (mean - target) ** 2 * torch.exp(-log_variance)
        bounds = 1e-3 * (self.most - self.least).sum()
        return (square + log_variance).mean() + 1e-4 * (log_variance**2).mean() + bounds


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3, weight_decay=1e-4)


def fit_pe_dm(data, epochs):
    inputs, targets, lengths = rows_of(data)
    starts = np.cumsum([0, *lengths])
    for member in range(MEMBERS):
        rng = np.random.default_rng(member)
        drawn = rng.integers(len(lengths), size=len(lengths))
        rows = np.concatenate([np.arange(starts[e], starts[e] + lengths[e]) for e in drawn])
        model = Gaussian(inputs.shape[1], targets.shape[1])
        optimiser = adam(model.parameters())
        for _ in range(epochs):
            rng.shuffle(rows)
            for batch in torch.from_numpy(rows).split(BATCH):
                loss = model.loss(inputs[batch], targets[batch])
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()


def pieces(inputs, targets, lengths, chosen):
    """The same steps of several episodes, [steps, episodes, width], with a mask of what is there."""
    starts = np.cumsum([0, *lengths])
    cut = lambda rows, e: rows[starts[e] : starts[e] + lengths[e]]
    padded = lambda rows: nn.utils.rnn.pad_sequence([cut(rows, e) for e in chosen])
    mask = nn.utils.rnn.pad_sequence([torch.ones(lengths[e]) for e in chosen])
    x, y = padded(inputs), padded(targets)
    for start in range(0, len(x), PIECE):
        yield x[start : start + PIECE], y[start : start + PIECE], mask[start : start + PIECE]


def fit_lstm_dm(data, epochs):
    inputs, targets, lengths = rows_of(data)
    lstm = nn.LSTM(inputs.shape[1], 256)
    head = dense([256, 128, targets.shape[1]], nn.ReLU)
    parameters = [*lstm.parameters(), *head.parameters()]
    optimiser = adam(parameters)
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        order = rng.permutation(len(lengths))
        for first in range(0, len(order), SIDE_BY_SIDE):
            state = None
            for x, y, mask in pieces(inputs, targets, lengths, order[first : first + SIDE_BY_SIDE]):
                hidden, state = lstm(x, state)
                state = tuple(part.detach() for part in state)
                square = ((head(hidden) - y) ** 2).mean(dim=2)
                loss = (square * mask).sum() / mask.sum().clamp(min=1)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 10.0)
                optimiser.step()


def observations(data):
    return standardise(np.concatenate([obs for obs, _ in data]))


def fit_knn(data, _):
    return NearestNeighbors(n_neighbors=1).fit(observations(data)).kneighbors


def fit_isolation_forest(data, _):
    return IsolationForest(n_estimators=100, random_state=0).fit(observations(data)).score_samples


def fit_ocsvm(data, _):
    return OneClassSVM(kernel="rbf", gamma="scale", nu=0.5, tol=1e-3).fit(observations(data)).score_samples


FITS = {
    "pe-dm": fit_pe_dm,
    "lstm-dm": fit_lstm_dm,
    "knn": fit_knn,
    "isolation-forest": fit_isolation_forest,
    "ocsvm": fit_ocsvm,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="nominal episodes, as `offnominal collect` writes them")
    parser.add_argument("ours", help="the program `studies` of this repository, built for release")
    parser.add_argument("--epochs", type=int, default=250, help="passes over the data for the networks")
    parser.add_argument("--detectors", default=",".join(FITS), help="which, with commas between")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = list(episodes(arguments.dataset))
    print(f"{len(data)} episodes, {sum(len(act) for _, act in data)} steps, {arguments.epochs} epochs")
    print("| detector | | Python, s | Offnominal, s | ratio |\n| --- | --- | --- | --- | --- |")
    for name in arguments.detectors.split(","):
        began = time.process_time()
        score = FITS[name](data, arguments.epochs)
        theirs = {"fit": time.process_time() - began}
        if score:
            rows = observations(data)
            began = time.process_time()
            score(rows)
            theirs["score"] = time.process_time() - began
        command = [arguments.ours, "fit-times", name, arguments.dataset, str(arguments.epochs)]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[name]
        for what, seconds in theirs.items():
            ratio = seconds / ours[what]
            print(f"| {name} | {what} | {seconds:.3f} | {ours[what]:.3f} | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
