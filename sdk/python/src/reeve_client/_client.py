import uuid
from collections.abc import AsyncIterable, Sequence

from google.protobuf.message import Message
from reeve.approval.v1 import approval_pb2
from reeve.artifact.v1 import artifact_pb2
from reeve.run.v1 import run_service_pb2

from ._back_off import persistently
from ._connection import Connection, Settings, Source
from ._errors import answered
from ._transfer import Download, chunks_of, upload_parts
from ._watch import Watch


def connect(
    address: str,
    token: str | None = None,
    *,
    ca: bytes | None = None,
    request_timeout: float = 10,
    transfer_timeout: float = 300,
    silence: float = 15,
    patience: float = 30,
) -> "Client":
    """Opens a client of the server at `http://host:port` or `https://host:port`. It connects with its first request.

    `ca` has certificates, in PEM, of the authorities to trust instead of those of the system. All times are in seconds:
    `request_timeout` is how long a request may take, all attempts together; `transfer_timeout` how long a file may be on its
    way; `silence` how long a stream may say nothing, heartbeats included, until its connection counts as lost; `patience` how
    long nothing may come of any attempt to watch until that is given up. Raises a ValueError for what is none of these.
    """
    return Client(Settings(address, token, ca, request_timeout, transfer_timeout, silence, patience))


class Client:
    """A client of a server, for one event loop; `async with` closes it.

    Every request ends within `request_timeout`, and is repeated in that time while no server can be reached, never with a
    second effect. What is refused is a ReeveError. Further fields of a request are given by their names in the contracts.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._source = Source(settings)

    @property
    def connection(self) -> Connection:
        """The stubs as they are generated, for all that has no method here. They want `metadata=connection.metadata`."""
        return self._source.current

    async def start_run(self, agent_id: str, input: str, *, request_id: str = "", **fields) -> run_service_pb2.Run:
        """Starts a run. Repeated with the same `request_id`, also by another process, it is the same run.

        By default it is a new one.
        """
        request_id = request_id or str(uuid.uuid4())
        request = run_service_pb2.StartRunRequest(agent_id=agent_id, input=input, request_id=request_id, **fields)
        return (await self._call("runs", "StartRun", request)).run

    def watch(
        self, run_id: str, *, after: int = 0, detailed: bool = True, families: Sequence[int] | None = None
    ) -> Watch:
        """The events of a run after a sequence, to its end.

        Everything if `detailed`, else what a person reads; with `families` exactly those.
        """
        return Watch(self._source, run_id, after, detailed, families)

    async def get_run(self, run_id: str) -> run_service_pb2.Run:
        return (await self._call("runs", "GetRun", run_service_pb2.GetRunRequest(run_id=run_id))).run

    async def cancel(self, run_id: str, reason: str = "") -> run_service_pb2.Run:
        """Cancels a run.

        A run that was cancelled before stays so; one that ended otherwise is refused with RUN_ENDED.
        """
        request = run_service_pb2.CancelRunRequest(run_id=run_id, reason=reason)
        return (await self._call("runs", "CancelRun", request)).run

    async def list_approvals(self, run_id: str = "") -> list[approval_pb2.Approval]:
        """The approvals that are pending, oldest first: of a run, or of all."""
        found: list[approval_pb2.Approval] = []
        request = approval_pb2.ListApprovalsRequest(run_id=run_id)
        while True:
            page = await self._call("approvals", "ListApprovals", request)
            found.extend(page.approvals)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def decide(
        self, approval_id: str, *, approved: bool, reason: str = "", decision_id: str = "", **fields
    ) -> approval_pb2.Approval:
        """Decides an approval. Of several decisions one wins; the others are refused with APPROVAL_CLOSED."""
        decision_id = decision_id or str(uuid.uuid4())
        request = approval_pb2.DecideApprovalRequest(
            approval_id=approval_id, approved=approved, reason=reason, decision_id=decision_id, **fields
        )
        return (await self._call("approvals", "DecideApproval", request)).approval

    async def upload(
        self, name: str, content: bytes | AsyncIterable[bytes], media_type: str = ""
    ) -> artifact_pb2.Artifact:
        """Stores a file. It is not repeated when the connection breaks: what was sent is gone."""
        connection = self._source.current
        call = connection.artifacts.UploadArtifact(
            upload_parts(name, media_type, content),
            metadata=connection.metadata,
            timeout=self._settings.transfer_timeout,
        )
        return (await answered(call, call)).artifact

    async def download(self, artifact_id: str) -> Download:
        """Opens a stored file."""
        connection = self._source.current
        call = connection.artifacts.DownloadArtifact(
            artifact_pb2.DownloadArtifactRequest(artifact_id=artifact_id),
            metadata=connection.metadata,
            timeout=self._settings.transfer_timeout,
        )
        first = await answered(call, call.read())
        return Download(first.artifact, chunks_of(call))

    async def close(self) -> None:
        """Closes the connection and whatever goes over it."""
        await self._source.current.channel.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, service: str, method: str, request: Message) -> Message:
        async def attempt(timeout: float) -> Message:
            connection = self._source.current
            start = getattr(getattr(connection, service), method)
            call = start(request, metadata=connection.metadata, timeout=timeout)
            return await answered(call, call)

        return await persistently(attempt, self._settings.request_timeout)
