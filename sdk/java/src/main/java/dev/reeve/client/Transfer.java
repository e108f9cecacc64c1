package dev.reeve.client;

import com.google.protobuf.ByteString;
import dev.reeve.artifact.v1.Artifact;
import dev.reeve.artifact.v1.ArtifactHeader;
import dev.reeve.artifact.v1.ArtifactServiceGrpc;
import dev.reeve.artifact.v1.DownloadArtifactRequest;
import dev.reeve.artifact.v1.UploadArtifactRequest;
import dev.reeve.artifact.v1.UploadArtifactResponse;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.BlockingClientCall;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

final class Transfer {
  private static final int CHUNK_BYTES = 256 * 1024;

  private Transfer() {}

  static Artifact upload(Source source, String name, String mediaType, InputStream content) throws IOException {
    BlockingClientCall<UploadArtifactRequest, UploadArtifactResponse> call =
        source
            .authorized(ArtifactServiceGrpc.newBlockingV2Stub(source.get()))
            .withDeadlineAfter(source.options.transferTimeout().toNanos(), TimeUnit.NANOSECONDS)
            .uploadArtifact();
    try {
      var header = ArtifactHeader.newBuilder().setName(name).setMediaType(mediaType);
      boolean isTaken = call.write(UploadArtifactRequest.newBuilder().setHeader(header).build());
      for (var piece = content.readNBytes(CHUNK_BYTES); isTaken && piece.length > 0; ) {
        isTaken = call.write(UploadArtifactRequest.newBuilder().setChunk(ByteString.copyFrom(piece)).build());
        piece = content.readNBytes(CHUNK_BYTES);
      }
      call.halfClose();
      return call.read().getArtifact();
    } catch (StatusException | IllegalStateException thrown) {
      throw ReeveException.from(thrown);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw ReeveException.lost("the upload of " + name + " was interrupted");
    } finally {
      call.cancel("the upload has ended", null);
    }
  }

  static Artifact download(Source source, String artifactId, OutputStream into) throws IOException {
    var stub = source.authorized(ArtifactServiceGrpc.newBlockingStub(source.get()));
    var request = DownloadArtifactRequest.newBuilder().setArtifactId(artifactId).build();
    var artifact = Artifact.getDefaultInstance();
    try {
      var messages =
          stub.withDeadlineAfter(source.options.transferTimeout().toNanos(), TimeUnit.NANOSECONDS)
              .downloadArtifact(request);
      while (messages.hasNext()) {
        var message = messages.next();
        if (message.hasArtifact()) {
          artifact = message.getArtifact();
        }
        message.getChunk().writeTo(into);
      }
      return artifact;
    } catch (StatusRuntimeException thrown) {
      throw ReeveException.from(thrown);
    }
  }
}
