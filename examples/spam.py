"""Spam by naive Bayes, in both event models, and what a prediction is made of.

The multivariate Bernoulli model asks which words are in a message, the multinomial how often each is. Both are fitted
to the SMS Spam Collection by counting; a message is then explained by the log-odds of its words, and an afterthought
is forgotten exactly.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from tutelage import BernoulliNB, MultinomialNB, datasets


def main() -> None:
    """Train, test, explain, forget."""
    frame = datasets.sms_spam()
    texts, labels = (frame[:, j].to_numpy() for j in (0, 1))
    if len(np.unique(texts)) < len(np.unique(labels)):
        texts, labels = labels, texts
    train, test, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0, stratify=labels)
    words = CountVectorizer()
    X_train, X_test = words.fit_transform(train).astype(float), words.transform(test).astype(float)
    print(f"{X_train.shape[0]} messages to learn from, {X_test.shape[0]} to judge by, {X_train.shape[1]} words")
    for model in (BernoulliNB(), MultinomialNB()):
        model.fit(X_train, y_train)
        predicted = model.predict(X_test)
        caught = (predicted[y_test == "spam"] == "spam").mean()
        blocked = (predicted[y_test == "ham"] == "spam").mean()
        name = type(model).__name__
        print(
            f"{name:>13}: accuracy {(predicted == y_test).mean():.4f}, spam caught {caught:.3f}, ham lost {blocked:.4f}"
        )
    spam = int(np.flatnonzero(model.classes_ == "spam")[0])
    odds = model.feature_log_prob_[spam] - model.feature_log_prob_[1 - spam]
    message = "Free entry: text WIN to claim your prize, or call me when you are home"
    names = words.get_feature_names_out()
    said = words.transform([message]).tocoo()
    print(f"\n{message!r}")
    for j in said.col[np.argsort(-odds[said.col])]:
        print(f"  {odds[j]:+6.2f}  {names[j]}")
    before = model.feature_log_prob_.copy()
    extra = words.transform(["see you at home tonight"]).astype(float)
    model.partial_fit(extra, ["spam"]).forget(extra, ["spam"])
    print(
        f"\nlearned one message more and forgot it: largest change {np.abs(model.feature_log_prob_ - before).max():.1e}"
    )


if __name__ == "__main__":
    main()
