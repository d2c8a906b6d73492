"""Feature maps: what a linear learner needs to be more than linear.

A feature map phi turns a row x into the row phi(x) that the learner sees; z = phi(x) . w + b is linear in w and
anything in x. Every map here is a scikit-learn transformer: it stands in pipelines, knows the names of its columns
(``get_feature_names_out``), gives frames on request (``set_output``), keeps float32 and, where it can, sparsity.

=================  ==========================================================  ======================
map                columns                                                     cost of a row
=================  ==========================================================  ======================
`Polynomial`       products of up to `degree` features                         C(d + degree, degree)
`Conjunctions`     "and" of features that hold, as often as wanted              number kept
`Basis`            any functions                                               one call of each
`Squares`          x and x^2                                                   2 d
`Buckets`          the interval a value lies in                                d log(buckets)
`OneHot`           the value of a category                                     d log(values)
`Standardise`      (x - mean) / deviation                                      d
=================  ==========================================================  ======================

>>> import numpy as np
>>> from sklearn.pipeline import make_pipeline
>>> make_pipeline(Standardise(), Polynomial(degree=2)).fit_transform(np.array([[1.0, 0.0], [3.0, 2.0]]))
array([[-1., -1.,  1.,  1.,  1.],
       [ 1.,  1.,  1.,  1.,  1.]])

What scikit-learn already does as well is not written again: spline bases (``SplineTransformer``), hashing
(``FeatureHasher``), text (``CountVectorizer``, ``TfidfVectorizer``), ranges (``MinMaxScaler``), imputation. They are
transformers like these and mix with them.
"""

from __future__ import annotations

from tutelage.features.basis import Basis, Squares
from tutelage.features.buckets import Buckets
from tutelage.features.maps import FeatureMap
from tutelage.features.onehot import OneHot
from tutelage.features.products import Conjunctions, Polynomial
from tutelage.features.standardise import Standardise

__all__ = ["Basis", "Buckets", "Conjunctions", "FeatureMap", "OneHot", "Polynomial", "Squares", "Standardise"]
