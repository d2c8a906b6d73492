"""The lasso path of the diabetes data, drawn: which features enter, and when.

    python examples/lasso_path.py [picture.png]

From left to right the penalty weakens and one feature after another gets a coefficient. Every point of the path carries
its own certificate.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_diabetes

from tutelage import Lasso, Standardise, path


def main(file: str = "lasso_path.png") -> None:
    """Compute the path, print the order of entry, and draw it."""
    mpl.use("Agg")
    frame, y = load_diabetes(return_X_y=True, as_frame=True)
    X = Standardise().set_output(transform="pandas").fit_transform(frame)
    along = path(Lasso(tol=1e-8), X, y, count=100)
    entry = (along.coefs != 0).argmax(axis=0)
    for feature in np.argsort(entry, kind="stable"):
        print(f"{along.names[feature]:>4} enters at alpha = {along.values[entry[feature]]:8.3f}")
    print(f"largest relative gap along the path: {max(proof.relative_gap for proof in along.certificates):.1e}")
    axes = along.plot()
    axes.set_title("Lasso path, diabetes data")
    axes.figure.savefig(file, dpi=120)
    print(f"drawn in {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
