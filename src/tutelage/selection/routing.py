"""Which of the extra arguments goes where: to the fit, to the splitter, to the scorer.

With scikit-learn's metadata routing each part asks for what it wants; without it everything goes to ``fit``, but
``groups``, which go to the splitter.

>>> routed("f", {"estimator": None, "splitter": None}, {"sample_weight": [1.0]}, groups=[0]).splitter.split
{'groups': [0]}
"""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing

# Part -> the methods that it is asked by, when the function itself is called.
CALLED = {"estimator": ("fit",), "splitter": ("split",), "scorer": ("score",)}


def check_groups(groups: Any) -> None:
    """Raise an error for groups given beside metadata routing."""
    if groups is not None and _routing_enabled():
        raise ValueError(
            "`groups` can only be passed if metadata routing is not enabled via "
            "`sklearn.set_config(enable_metadata_routing=True)`. When routing is enabled, pass `groups` alongside "
            "other metadata via the `params` argument instead."
        )


def routed(
    owner: str, parts: dict[str, Any], params: dict[str, Any] | None, *, groups: Any = None, partial: bool = False
) -> Any:
    """Sort extra arguments by the part that wants them.

    Parameters
    ----------
    owner : str
        The function that was called, for errors.
    parts : dict
        The estimator, the splitter and the scorer.
    params : dict or None
        The arguments.
    groups : array, optional
        For the splitter, where there is no routing.
    partial : bool, default=False
        Whether ``partial_fit`` may be called too.

    Returns
    -------
    Bunch
        ``estimator.fit``, ``splitter.split`` and ``scorer.score``: dictionaries.
    """
    given = params or {}
    if not _routing_enabled():
        return Bunch(
            estimator=Bunch(fit=given, partial_fit=given),
            splitter=Bunch(split={"groups": groups}),
            scorer=Bunch(score={}),
        )
    router = MetadataRouter(owner=owner)
    for name, part in parts.items():
        mapping = MethodMapping()
        for method in CALLED[name]:
            mapping.add(caller="fit", callee=method)
        if partial and name == "estimator":
            mapping.add(caller="fit", callee="partial_fit")
        router.add(**{name: part}, method_mapping=mapping)
    try:
        return process_routing(router, "fit", **given)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{owner}.fit", owner),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None
