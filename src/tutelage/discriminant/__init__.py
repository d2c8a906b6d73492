"""Discriminants and generative models: say what rows of each class look like, and let Bayes' rule classify.

===============================  =====================================================================
learner                          a class is
===============================  =====================================================================
`LinearDiscriminantAnalysis`     a Gaussian; all have one covariance, and boundaries are planes
`QuadraticDiscriminantAnalysis`  a Gaussian with a covariance of its own; boundaries are quadrics
`GaussianDiscriminant`           a Gaussian, its covariance as rich as asked for; with densities
`GenerativeClassifier`           Gaussian, Poisson, Bernoulli or gamma columns, or a mixture of such
===============================  =====================================================================

>>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
>>> model = GaussianDiscriminant().fit(X, ["left", "left", "left", "right", "right", "right"])
>>> model.predict([[-1, 0]])
array(['left'], dtype='<U5')
"""

from __future__ import annotations

from tutelage.discriminant.gaussian import GaussianDiscriminant
from tutelage.discriminant.generative import GenerativeClassifier
from tutelage.discriminant.linear import LinearDiscriminantAnalysis
from tutelage.discriminant.quadratic import QuadraticDiscriminantAnalysis

__all__ = [
    "GaussianDiscriminant",
    "GenerativeClassifier",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
]
