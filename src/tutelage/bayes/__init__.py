"""Naive Bayes: count what occurs in each class, multiply the probabilities, and let Bayes' rule turn them around.

=================  =====================================================================  =========================
learner            a row is                                                               fit
=================  =====================================================================  =========================
`GaussianNB`       d numbers, each normal inside a class                                  one reading of X
`BernoulliNB`      d things, each there or not                                            one reading of what is
`MultinomialNB`    how often each of d things occurs                                      one reading of what is
`ComplementNB`     the same, judged by all other classes                                  one reading of what is
`CategoricalNB`    d categories                                                           one count an entry
`NaiveBayes`       d columns, each of its own family, some missing                        one count an entry
=================  =====================================================================  =========================

All of them learn more rows by `partial_fit` and forget some by `forget`; ``counts_`` are the totals, which add and
subtract (`tutelage.counts`).

>>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
>>> model.forget([[1, 1]], ["ham"]).class_count_
array([1., 1.])
"""

from __future__ import annotations

from tutelage.bayes.categorical import CategoricalNB
from tutelage.bayes.discrete import BernoulliNB, ComplementNB, MultinomialNB
from tutelage.bayes.gaussian import GaussianNB
from tutelage.bayes.mixed import NaiveBayes

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"]
