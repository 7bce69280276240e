"""Losses: value, dual value and gap, for any structure."""

from partwise.losses.base import Certificate, DualPoint, LocalCertificate, Loss
from partwise.losses.log_loss import LogLoss
from partwise.losses.margin import Hinge, SquaredHinge
from partwise.losses.set_hinge import SetHinge

LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (Hinge(), SquaredHinge(), LogLoss())
}


def get_loss(name: str) -> Loss:
    """Return the loss called `name`.

    Examples
    --------
    >>> get_loss("hinge").name
    'hinge'
    """
    if name == SetHinge.name:  # of linear programs alone, where it has settings
        return SetHinge()
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}; choose from {', '.join(LOSSES)}")
    return LOSSES[name]


__all__ = [
    "LOSSES",
    "Certificate",
    "DualPoint",
    "Hinge",
    "LocalCertificate",
    "LogLoss",
    "Loss",
    "SetHinge",
    "SquaredHinge",
    "get_loss",
]
