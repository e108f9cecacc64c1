from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass

import grpc
from reeve.artifact.v1 import artifact_pb2

from ._errors import answered

_CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True)
class Download:
    """A stored file and its bytes. The bytes can be read only once."""

    artifact: artifact_pb2.Artifact
    chunks: AsyncIterator[bytes]

    async def read(self) -> bytes:
        """Returns all remaining bytes."""
        return b"".join([chunk async for chunk in self.chunks])


async def upload_parts(
    name: str, media_type: str, content: bytes | AsyncIterable[bytes]
) -> AsyncIterator[artifact_pb2.UploadArtifactRequest]:
    """Yields the messages of an upload. The content may arrive in pieces of any size."""
    header = artifact_pb2.ArtifactHeader(name=name, media_type=media_type)
    yield artifact_pb2.UploadArtifactRequest(header=header)
    if isinstance(content, bytes):
        for part in _parts(content):
            yield part
    else:
        async for piece in content:
            for part in _parts(piece):
                yield part


def _parts(piece: bytes) -> Iterator[artifact_pb2.UploadArtifactRequest]:
    for start in range(0, len(piece), _CHUNK_BYTES):
        yield artifact_pb2.UploadArtifactRequest(chunk=piece[start : start + _CHUNK_BYTES])


async def chunks_of(call: grpc.aio.UnaryStreamCall) -> AsyncIterator[bytes]:
    """Yields the bytes that follow the description. Closing the generator early ends the transfer."""
    try:
        while (message := await answered(call, call.read())) is not grpc.aio.EOF:
            yield message.chunk
    finally:
        call.cancel()
