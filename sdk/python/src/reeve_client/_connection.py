from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc
from reeve.agent.v1.agent_service_pb2_grpc import AgentServiceStub
from reeve.approval.v1.approval_pb2_grpc import ApprovalServiceStub
from reeve.artifact.v1.artifact_pb2_grpc import ArtifactServiceStub
from reeve.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceStub
from reeve.memory.v1.memory_pb2_grpc import MemoryServiceStub
from reeve.run.v1.run_service_pb2_grpc import RunServiceStub
from reeve.thread.v1.thread_service_pb2_grpc import ThreadServiceStub
from reeve.tool.v1.client_tool_service_pb2_grpc import ClientToolServiceStub
from reeve.tool.v1.tool_pb2_grpc import ToolServiceStub

_CHANNEL = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.enable_retries", 0),
    # Without this option, channels to the same address share a connection and the backoff after its failures.
    ("grpc.use_local_subchannel_pool", 1),
]


@dataclass(frozen=True)
class Settings:
    """Address and credentials of a server, and time limits in seconds."""

    address: str
    token: str | None
    ca: bytes | None
    request_timeout: float
    transfer_timeout: float
    idle_timeout: float
    reconnect_timeout: float

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f'"{self.address}" is not a server address; use http://host:port')
        for name in ("request_timeout", "transfer_timeout", "idle_timeout", "reconnect_timeout"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; use a positive number")


class Connection:
    """An HTTP/2 connection with the generated gRPC stubs. Opened with the first request, and reopened after it broke."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.address)
        secure = parts.scheme == "https"
        target = f"{parts.netloc.rpartition('@')[2]}" + ("" if parts.port else ":443" if secure else ":80")
        if secure:
            credentials = grpc.ssl_channel_credentials(settings.ca)
            self.channel = grpc.aio.secure_channel(target, credentials, _CHANNEL)
        else:
            self.channel = grpc.aio.insecure_channel(target, _CHANNEL)
        self.metadata = () if settings.token is None else (("authorization", f"Bearer {settings.token}"),)
        self.agents = AgentServiceStub(self.channel)
        self.approvals = ApprovalServiceStub(self.channel)
        self.artifacts = ArtifactServiceStub(self.channel)
        self.client_tools = ClientToolServiceStub(self.channel)
        self.knowledge = KnowledgeServiceStub(self.channel)
        self.memories = MemoryServiceStub(self.channel)
        self.runs = RunServiceStub(self.channel)
        self.threads = ThreadServiceStub(self.channel)
        self.tools = ToolServiceStub(self.channel)


class Source:
    """Holds the current connection, and replaces it when it becomes silent."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.current = Connection(settings)

    async def renew(self, suspect: Connection) -> None:
        """Replaces the connection unless it was already replaced. Other streams on it are cut off, and reconnect."""
        if suspect is self.current:
            self.current = Connection(self.settings)
            await suspect.channel.close()
