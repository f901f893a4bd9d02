"""Writes regression.json: generalised linear models as statsmodels fits them.

pip install statsmodels==0.15.0 'numpy<2' && python3 make_regression.py
"""

import json
import pathlib

import numpy as np
import statsmodels
import statsmodels.api as sm


def case(name, family, x, y, weight):
    design = sm.add_constant(x)
    if family == "binomial":
        response, kind = np.column_stack([y * weight, (1 - y) * weight]), sm.families.Binomial()
    else:
        response, kind = y, sm.families.Gaussian(sm.families.links.Log())
    start = None if family == "binomial" else np.r_[np.log(max(y.mean(), 1e-6)), np.zeros(x.shape[1])]
    found = sm.GLM(response, design, family=kind).fit(tol=1e-14, maxiter=500, start_params=start)
    return {
        "name": name,
        "family": family,
        "x": x.tolist(),
        "y": y.tolist(),
        "weight": weight.tolist(),
        "coefficients": found.params.tolist(),
        "standard_errors": found.bse.tolist(),
        "deviance": found.deviance,
        "null_deviance": found.null_deviance,
    }


def main():
    rng = np.random.default_rng(1)
    cases = []
    for n, k in [(30, 1), (200, 1), (200, 3)]:
        x = rng.normal(size=(n, k))
        slopes = rng.normal(size=k)
        share = 1 / (1 + np.exp(-(0.4 + x @ slopes + 0.5 * rng.normal(size=n))))
        cases.append(case(f"returns of {n} bodies, {k} covariates", "binomial", x, share, np.full(n, 2000.0)))
        drop = np.exp(0.5 + 0.4 * (x @ slopes)) + 0.3 * rng.normal(size=n)
        cases.append(case(f"drops of {n} bodies, {k} covariates", "gaussian", x, drop, np.ones(n)))
    edge = np.clip(share, 0.3, 0.9)
    edge[:5], edge[5:9] = 0.0, 1.0
    cases.append(case("shares of exactly 0 and 1", "binomial", x, edge, np.full(len(edge), 50.0)))
    out = {"statsmodels": statsmodels.__version__, "cases": cases}
    pathlib.Path(__file__).with_name("regression.json").write_text(json.dumps(out) + "\n")


main()
