"""Twenty newsgroups by naive Bayes: which event model, what smoothing, and the words that tell a group.

    python examples/newsgroups.py FOLDER

FOLDER holds train.parquet and test.parquet, the "bydate" split, with the columns text and group. The smoothing is chosen
by five-fold cross-validation on the training texts, for the price of counting them once: the counts of a fold are
subtracted from those of all.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer

from tutelage import BernoulliNB, ComplementNB, GridSearchCV, MultinomialNB


def main() -> None:
    """Choose, train, test, and name the words."""
    if len(sys.argv) != 2:
        print(__doc__)
        return
    train, test = (pl.read_parquet(Path(sys.argv[1]) / f"{part}.parquet") for part in ("train", "test"))
    words = CountVectorizer(min_df=2, stop_words="english")
    X_train, X_test = (f(frame["text"].to_list()).astype(float) for f, frame in
                       ((words.fit_transform, train), (words.transform, test)))  # fmt: skip
    y_train, y_test = train["group"].to_numpy(), test["group"].to_numpy()
    print(f"{X_train.shape[0]} texts to learn from, {X_test.shape[0]} to judge by, {X_train.shape[1]} words")
    for model in (BernoulliNB(), MultinomialNB(), ComplementNB()):
        search = GridSearchCV(model, {"alpha": [1.0, 0.3, 0.1, 0.03, 0.01]}, cv=5).fit(X_train, y_train)
        accuracy = search.score(X_test, y_test)
        print(f"{type(model).__name__:>13}: {search.best_params_}, folds {search.best_score_:.3f}, test {accuracy:.3f}")
    names = words.get_feature_names_out()
    told = MultinomialNB(alpha=0.1).fit(X_train, y_train).feature_log_prob_
    for c, group in enumerate(np.unique(y_train)[:5]):
        others = np.delete(told, c, axis=0).mean(axis=0)
        print(f"{group:>28}: {', '.join(names[np.argsort(others - told[c])[:6]])}")


if __name__ == "__main__":
    main()
