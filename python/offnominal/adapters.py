"""Detectors of other libraries, which look at rows and know no episodes.

``Rows(pyod.models.iforest.IForest())`` goes wherever a detector goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal._given import Episodes, nominal, pair

#: Rows whose scores are compared, together and alone.
_COMPARED = 50


class Rows:
    """Any estimator with ``fit(rows)`` that scores rows: PyOD's, scikit-learn's, or your own.

    A step is the row ``[next observation, command]``. Larger scores are more anomalous, so those of scikit-learn
    (``score_samples``, larger is more normal) change their sign. An estimator whose score of a row depends on the rows beside it
    (PyOD's ECOD, COPOD) gets one row at a time, as a monitor does.

    :param estimator: has ``decision_function`` as in PyOD, or ``score_samples`` as in scikit-learn.
    :param name: the name in results; the estimator's class if not given.
    """

    def __init__(self, estimator: Any, name: str | None = None) -> None:
        if not callable(getattr(estimator, "fit", None)) or self._scorer(estimator) is None:
            raise ValueError(
                "estimator: expected one with fit and decision_function or score_samples, "
                f"found {type(estimator).__name__}"
            )
        self.estimator = estimator
        self.name = name or type(estimator).__name__.lower()
        #: Whether the estimator is to see one row at a time.
        self._alone = False

    @staticmethod
    def _scorer(estimator: Any) -> Any:
        # Estimators of scikit-learn have both; of these only score_samples means the same in all of them.
        found = getattr(estimator, "score_samples", None)
        return found or getattr(estimator, "decision_function", None)

    def __repr__(self) -> str:
        return f"Rows({self.estimator!r}, name={self.name!r})"

    def reset(self) -> None:
        """Nothing is remembered of an episode."""

    def step(self, obs: Any, action: Any, next_obs: Any) -> float:
        """The score of one step."""
        return float(self.score((np.stack([obs, next_obs]), np.asarray(action)[None]))[0])

    def fit(self, episodes: Episodes) -> Rows:
        """Fits the estimator on all steps of all nominal episodes."""
        rows = np.concatenate([self._rows(own) for own in nominal(episodes).pairs])
        self.estimator.fit(rows)
        # Some estimators rank a row among those that are scored with it, of which a monitor has none.
        some = rows[:: max(1, len(rows) // _COMPARED)]
        together = self._scores(some)
        self._alone = not np.allclose(together, self._one_by_one(some), rtol=1e-5, atol=1e-9)
        return self

    def score(self, episode: Any) -> NDArray[np.float64]:
        """Scores of all steps of an episode, ``[T]``."""
        rows = self._rows(pair(episode))
        return self._one_by_one(rows) if self._alone else self._scores(rows)

    def _one_by_one(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self._scores(row[None])[0] for row in rows], np.float64)

    def _scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        sign = -1.0 if hasattr(self.estimator, "score_samples") else 1.0
        return sign * np.asarray(self._scorer(self.estimator)(rows), np.float64)

    @staticmethod
    def _rows(episode: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[np.float64]:
        observations, actions = episode
        return np.hstack([observations[1:], actions]).astype(np.float64)
