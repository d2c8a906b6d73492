"""Small real data sets that come with the package: what examples, guides and ``python -m tutelage`` run on.

=============  =====  ========================  ===============================================================
set            rows   task                      source and licence
=============  =====  ========================  ===============================================================
`titanic`      1309   survived or not, mixed    Passengers of the Titanic, in the split of Kaggle's competition.
                      columns, missing values   Facts of public record; the source names no licence.
`sms_spam`     5574   spam or ham, short text   Almeida, Gomez Hidalgo and Yamakami 2011, SMS Spam Collection v.1,
                                                UCI Machine Learning Repository. CC BY 4.0.
`restaurant`   12     wait or leave,            The textbook example of information gain (Russell and Norvig).
                      categories
=============  =====  ========================  ===============================================================

Each function reads a compressed table of the package, only when it is called, and gives a Polars frame, or with
``return_X_y=True`` a frame of features and an array of targets, as learners take them. The three take 0.25 MB of disk.
scikit-learn's own sets (iris, wine, digits, diabetes, ...) are not repeated here.

>>> frame = restaurant()
>>> frame.shape
(12, 12)
>>> X, y = titanic(return_X_y=True)
>>> X.shape, int(y.sum())
((891, 11), 342)
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Examples: TypeAlias = tuple[pl.DataFrame, npt.NDArray[np.generic]]

__all__ = ["restaurant", "sms_spam", "titanic"]


@overload
def titanic(part: Literal["train", "test"] = "train", *, return_X_y: Literal[False] = False) -> pl.DataFrame: ...
@overload
def titanic(part: Literal["train", "test"] = "train", *, return_X_y: Literal[True]) -> Examples: ...
def titanic(part: Literal["train", "test"] = "train", *, return_X_y: bool = False) -> Any:
    """Give the passengers of the Titanic: who survived?

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        The 891 rows whose outcome is known, or the 418 of the competition's test, whose outcome is not in the table.
    return_X_y : bool, default=False
        Whether to split off ``Survived``, 0 or 1, as an array.

    Returns
    -------
    polars.DataFrame, or a frame and an array
        Age is missing in 177 of the 891 rows, the cabin in 687, the port in 2.

    Examples
    --------
    >>> frame = titanic()
    >>> frame.columns[:5], frame["Age"].null_count()
    (['PassengerId', 'Survived', 'Pclass', 'Name', 'Sex'], 177)
    """
    if part not in {"train", "test"}:
        raise ValueError(f"part of titanic must be 'train' or 'test'; found {part!r}.")
    if part == "test" and return_X_y:
        raise ValueError(
            "return_X_y of titanic must be False for part='test', whose outcomes the table does not hold; use 'train'."
        )
    return _examples(f"titanic_{part}.csv.gz", "Survived", return_X_y)


@overload
def sms_spam(*, return_X_y: Literal[False] = False) -> pl.DataFrame: ...
@overload
def sms_spam(*, return_X_y: Literal[True]) -> Examples: ...
def sms_spam(*, return_X_y: bool = False) -> Any:
    """Give 5574 text messages, 747 of them spam.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to split off ``label``, "ham" or "spam", as an array.

    Returns
    -------
    polars.DataFrame, or a frame and an array
        Columns ``label`` and ``message``.

    Examples
    --------
    >>> sms_spam()["label"].value_counts(sort=True).rows()
    [('ham', 4827), ('spam', 747)]
    """
    return _examples("sms_spam.csv.gz", "label", return_X_y)


@overload
def restaurant(*, return_X_y: Literal[False] = False) -> pl.DataFrame: ...
@overload
def restaurant(*, return_X_y: Literal[True]) -> Examples: ...
def restaurant(*, return_X_y: bool = False) -> Any:
    """Give the 12 visits to a restaurant from which textbooks learn when to wait for a table.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to split off ``Wait``, "T" or "F", as an array.

    Returns
    -------
    polars.DataFrame, or a frame and an array
        The visit and ten categories; "None" under ``Pat`` says that nobody was there, and is not a missing value.

    Examples
    --------
    >>> restaurant()["Pat"].unique().sort().to_list()
    ['Full', 'None', 'Some']
    """
    return _examples("restaurant.csv", "Wait", return_X_y)


def _examples(file: str, target: str, return_X_y: bool) -> Any:
    import polars as pl

    frame = pl.read_csv((resources.files(__name__) / file).read_bytes())
    return (frame.drop(target), frame[target].to_numpy()) if return_X_y else frame
