"""The table of conversations: what each says, to which listener, and what the RFC wants the server to answer."""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Talk:
    """wanted: each outcome that the RFC allows; listener: EC, RSA, ASKED (the client's certificate is required), OPTIONAL,
    IDS (no tickets), or PROXIED (accept-proxy); alone: HAProxy does something else."""
    script: Callable
    rfc: str
    wanted: tuple
    listener: str
    alone: bool


EC, RSA, ASKED, OPTIONAL, IDS, PROXIED = "ec", "rsa", "asked", "optional", "ids", "proxied"
TALKS = {}


def talk(rfc, *wanted, at=EC, name=None, alone=False):
    """Decorator: adds a conversation to the table."""
    def add(script):
        key = name or script.__name__
        assert key not in TALKS, f"{key} is there twice"
        TALKS[key] = Talk(script, rfc, wanted, at, alone)
        return script
    return add
