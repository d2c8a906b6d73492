"""scikit-learn's callbacks (1.9 and later): functions that are told of every round of a fit.

A fit here takes few rounds, and its core does not stop to talk. Where callbacks were set, the fit is therefore made of
one, of two, of three rounds, ... until it has converged, and each is reported as the next round: what a callback sees
is exactly the model that ``max_iter`` rounds would give. It costs half the square of the number of rounds; without
callbacks nothing.

With a scikit-learn older than 1.9 there are no callbacks, and nothing happens.

>>> from tutelage.linear import LogisticRegression
>>> hasattr(LogisticRegression, "set_callbacks")
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.risk import Solution

    class CallbackSupport:
        """Mixin of estimators that callbacks can be set on."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks."""

    def with_callbacks(method: Callable[..., Solution]) -> Callable[..., Solution]:
        """Let a method tell callbacks."""
else:
    try:
        from sklearn.callback import CallbackSupportMixin as CallbackSupport
        from sklearn.callback import with_callbacks
    except ImportError:

        class CallbackSupport:
            """Stands where scikit-learn has no callbacks."""

            def set_callbacks(self, *callbacks: Any) -> Self:
                """Refuse: the installed scikit-learn has no callbacks."""
                raise NotImplementedError(
                    f"Callbacks need scikit-learn 1.9, found {len(callbacks)} of them; upgrade it."
                )

        def with_callbacks(method):
            """Leave the method as it is."""
            return method


@with_callbacks
def rounds_told(
    estimator: Any,
    X: Any,
    y: Any,
    weight: Any,
    max_iter: int,
    fit: Callable[[int], Solution],
    attributes: Callable[[Solution], dict[str, Any]],
) -> Solution:
    """Fit by ever more rounds and tell the callbacks of an estimator after each.

    Parameters
    ----------
    estimator : estimator
        On which callbacks were set.
    X, y, weight : arrays
        What it is fitted on.
    max_iter : int
        The most rounds.
    fit : callable
        Gives the solution after so many rounds at most.
    attributes : callable
        Gives the fitted attributes of a solution.
    """
    metadata = None if weight is None else {"sample_weight": weight}
    data: dict[str, Any] = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    # The last task is empty: that there is no further round is known only once it was asked for.
    whole = estimator._init_callback_context(max_subtasks=max(max_iter, 1) + 1)  # noqa: SLF001 - meant for estimators
    whole.call_on_fit_task_begin(**data)
    solution = fit(0)
    for rounds in range(1, max(max_iter, 1) + 2):
        task = whole.subcontext(task_name="round")
        task.call_on_fit_task_begin(**data, reconstruction_attributes=attributes(solution))
        after = fit(min(rounds, max_iter))
        made = after.certificate.rounds
        if made < rounds and rounds > 1:
            task.call_on_fit_task_end(estimator=estimator)
            solution = after
            break
        task.call_on_fit_task_end(**data, reconstruction_attributes=attributes(after))
        solution = after
    whole.call_on_fit_task_end(**data, reconstruction_attributes={})
    return solution
