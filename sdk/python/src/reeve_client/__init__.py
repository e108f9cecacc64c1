"""A client of Reeve: starts runs, watches them over lost connections, and decides approvals.

The messages are those of the contracts, generated below the package `reeve`: `from reeve.run.v1 import run_event_pb2`.
"""

from ._client import Client, connect
from ._errors import ReeveError, Violation
from ._transfer import Download
from ._watch import Watch

__all__ = ["Client", "Download", "ReeveError", "Violation", "Watch", "connect"]
