import uuid
from collections.abc import AsyncIterable, Callable, Sequence

from google.protobuf.message import Message
from reeve.approval.v1 import approval_pb2
from reeve.artifact.v1 import artifact_pb2
from reeve.run.v1 import run_service_pb2

from ._back_off import retry
from ._connection import Connection, Settings, Source
from ._errors import answered
from ._tools import ClientTool, ToolServer
from ._transfer import Download, chunks_of, upload_parts
from ._watch import Watch


def connect(
    address: str,
    token: str | None = None,
    *,
    ca: bytes | None = None,
    request_timeout: float = 10,
    transfer_timeout: float = 300,
    idle_timeout: float = 15,
    reconnect_timeout: float = 30,
) -> "Client":
    """Returns a client of the server at `http://host:port` or `https://host:port`. It connects with its first request.

    `ca` contains PEM certificates of the authorities to trust instead of those of the system. All times are in seconds:

    - `request_timeout`: time limit of a request, all attempts together.
    - `transfer_timeout`: time limit of an upload or a download.
    - `idle_timeout`: how long a stream may be silent, heartbeats included, before its connection counts as lost.
    - `reconnect_timeout`: how long a watch tries to reconnect without receiving anything before it gives up.

    Raises a ValueError if the address is not the URL of a server or a time is not positive.
    """
    return Client(Settings(address, token, ca, request_timeout, transfer_timeout, idle_timeout, reconnect_timeout))


class Client:
    """A client of a server, for use in one event loop. Use it with `async with`, which closes it.

    Each request ends within `request_timeout`. While no server can be reached, the client repeats the request within that
    time; a repeated request never has a second effect. Errors are raised as ReeveError. Further keyword arguments are fields
    of the request, by their names in the protobuf message.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._source = Source(settings)

    @property
    def connection(self) -> Connection:
        """The generated stubs, for methods that this class does not have. Pass `metadata=connection.metadata` to each call."""
        return self._source.current

    async def start_run(self, agent_id: str, input: str, *, request_id: str = "", **fields) -> run_service_pb2.Run:
        """Starts a run.

        The same `request_id` always returns the same run, even in another process. By default a new run is started.
        """
        request_id = request_id or str(uuid.uuid4())
        request = run_service_pb2.StartRunRequest(agent_id=agent_id, input=input, request_id=request_id, **fields)
        return (await self._call("runs", "StartRun", request)).run

    def watch(
        self,
        run_id: str,
        *,
        after: int = 0,
        detailed: bool = True,
        families: Sequence[int] | None = None,
        resume_token: str = "",
    ) -> Watch:
        """Returns the events of a run after the sequence `after`, until the end of the run.

        `detailed` selects all events, or only those that a person reads. `families` selects exactly these families instead.
        With the `resume_token` of an earlier watch, the server checks that it still has the events up to `after`.
        """
        return Watch(self._source, run_id, after, detailed, families, resume_token)

    async def get_run(self, run_id: str) -> run_service_pb2.Run:
        return (await self._call("runs", "GetRun", run_service_pb2.GetRunRequest(run_id=run_id))).run

    async def cancel(self, run_id: str, reason: str = "") -> run_service_pb2.Run:
        """Cancels a run.

        Cancelling a cancelled run succeeds. Cancelling a run that ended otherwise raises an error with reason RUN_ENDED.
        """
        request = run_service_pb2.CancelRunRequest(run_id=run_id, reason=reason)
        return (await self._call("runs", "CancelRun", request)).run

    async def list_approvals(self, run_id: str = "") -> list[approval_pb2.Approval]:
        """Returns the pending approvals of a run, or of all runs if `run_id` is empty, oldest first."""
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
        """Decides an approval. Exactly one decision takes effect; any other raises an error with reason APPROVAL_CLOSED."""
        decision_id = decision_id or str(uuid.uuid4())
        request = approval_pb2.DecideApprovalRequest(
            approval_id=approval_id, approved=approved, reason=reason, decision_id=decision_id, **fields
        )
        return (await self._call("approvals", "DecideApproval", request)).approval

    async def answer(
        self, approval_id: str, *, decision_id: str = "", **fields
    ) -> approval_pb2.Approval:
        """Answers a question of an agent as somebody who asked for its run, or declines it. People with the role approver may use `decide`."""
        decision_id = decision_id or str(uuid.uuid4())
        request = approval_pb2.AnswerQuestionRequest(approval_id=approval_id, decision_id=decision_id, **fields)
        return (await self._call("approvals", "AnswerQuestion", request)).approval

    async def serve_tools(
        self,
        tools: Sequence[ClientTool],
        *,
        client_id: str,
        thread_id: str = "",
        run_id: str = "",
        on_ready: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        """Offers tools to the runs of a thread, or to one run, and executes their calls until the run has ended.

        Each call is executed by one client only. Use a `client_id` of its own for each process, and the same one if the process
        continues after a crash. `on_ready` is called for each connection once the tools are offered, with what the target does not
        have of them. Cancel the task to stop.
        """
        await ToolServer(self._source, tools, client_id, thread_id, run_id, on_ready).serve()

    async def upload(
        self, name: str, content: bytes | AsyncIterable[bytes], media_type: str = ""
    ) -> artifact_pb2.Artifact:
        """Stores a file. Not repeated if the connection breaks, because the content may already have been consumed."""
        connection = self._source.current
        call = connection.artifacts.UploadArtifact(
            upload_parts(name, media_type, content),
            metadata=connection.metadata,
            timeout=self._settings.transfer_timeout,
        )
        return (await answered(call, call)).artifact

    async def download(self, artifact_id: str) -> Download:
        """Opens a stored file for reading."""
        connection = self._source.current
        call = connection.artifacts.DownloadArtifact(
            artifact_pb2.DownloadArtifactRequest(artifact_id=artifact_id),
            metadata=connection.metadata,
            timeout=self._settings.transfer_timeout,
        )
        first = await answered(call, call.read())
        return Download(first.artifact, chunks_of(call))

    async def close(self) -> None:
        """Closes the connection, and ends all requests on it."""
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

        return await retry(attempt, self._settings.request_timeout)
