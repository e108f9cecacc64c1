package dev.reeve.client;

import dev.reeve.approval.v1.Approval;
import dev.reeve.approval.v1.ApprovalServiceGrpc;
import dev.reeve.approval.v1.DecideApprovalRequest;
import dev.reeve.approval.v1.ListApprovalsRequest;
import dev.reeve.artifact.v1.Artifact;
import dev.reeve.run.v1.CancelRunRequest;
import dev.reeve.run.v1.EventFamily;
import dev.reeve.run.v1.GetRunRequest;
import dev.reeve.run.v1.Run;
import dev.reeve.run.v1.RunServiceGrpc;
import dev.reeve.run.v1.StartRunRequest;
import io.grpc.Channel;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A client of a server, safe for use by several threads. Every request ends within the request timeout, and is repeated in that
 * time while no server can be reached, never with a second effect. What is refused is a {@link ReeveException}.
 */
public final class ReeveClient implements AutoCloseable {
  private final Source source;

  private ReeveClient(Source source) {
    this.source = source;
  }

  /** Opens a client, which connects with its first request. */
  public static ReeveClient connect(ReeveOptions options) {
    return new ReeveClient(new Source(options));
  }

  /** Starts a run. Repeated with the same request id, also by another process, it is the same run; without one it is a new one. */
  public Run startRun(StartRunRequest request) {
    var whole =
        request.getRequestId().isEmpty()
            ? request.toBuilder().setRequestId(UUID.randomUUID().toString()).build()
            : request;
    return BackOff.persistently(source, left -> runs(left).startRun(whole)).getRun();
  }

  /** All events of a run, to its end. */
  public Watch watch(String runId) {
    return watch(runId, 0, null);
  }

  /** The events of a run after the last sequence that was seen; only those of some families, unless that is null. */
  public Watch watch(String runId, int after, Collection<EventFamily> families) {
    return new Watch(source, Watch.request(runId, after, families));
  }

  public Run getRun(String runId) {
    var request = GetRunRequest.newBuilder().setRunId(runId).build();
    return BackOff.persistently(source, left -> runs(left).getRun(request)).getRun();
  }

  /** Cancels a run. A run that was cancelled before stays so; one that ended otherwise is refused with {@code RUN_ENDED}. */
  public Run cancel(String runId, String reason) {
    var request = CancelRunRequest.newBuilder().setRunId(runId).setReason(reason).build();
    return BackOff.persistently(source, left -> runs(left).cancelRun(request)).getRun();
  }

  /** The approvals that are pending, oldest first: of a run, or of all if the id is empty. */
  public List<Approval> listApprovals(String runId) {
    var found = new ArrayList<Approval>();
    var request = ListApprovalsRequest.newBuilder().setRunId(runId);
    do {
      var asked = request.build();
      var page =
          BackOff.persistently(source, left -> approvals(left).listApprovals(asked));
      found.addAll(page.getApprovalsList());
      request.setPageToken(page.getNextPageToken());
    } while (!request.getPageToken().isEmpty());
    return found;
  }

  /** Decides an approval. Of several decisions one wins; the others are refused with {@code APPROVAL_CLOSED}. */
  public Approval decide(DecideApprovalRequest request) {
    var whole =
        request.getDecisionId().isEmpty()
            ? request.toBuilder().setDecisionId(UUID.randomUUID().toString()).build()
            : request;
    return BackOff.persistently(source, left -> approvals(left).decideApproval(whole))
        .getApproval();
  }

  /** Stores a file. It is not repeated when the connection breaks: what was read is gone. */
  public Artifact upload(String name, String mediaType, InputStream content) throws IOException {
    return Transfer.upload(source, name, mediaType, content);
  }

  /** Writes the bytes of a stored file, and returns what it is. */
  public Artifact download(String artifactId, OutputStream into) throws IOException {
    return Transfer.download(source, artifactId, into);
  }

  /** A generated client over this connection and with its token, for all that has no method here. */
  public <S extends AbstractStub<S>> S stub(Function<Channel, S> newStub) {
    return source.authorized(newStub.apply(source.get()));
  }

  /** Closes the connection and whatever goes over it. */
  @Override
  public void close() {
    source.close();
  }

  private RunServiceGrpc.RunServiceBlockingStub runs(long nanos) {
    return stub(RunServiceGrpc::newBlockingStub).withDeadlineAfter(nanos, TimeUnit.NANOSECONDS);
  }

  private ApprovalServiceGrpc.ApprovalServiceBlockingStub approvals(long nanos) {
    return stub(ApprovalServiceGrpc::newBlockingStub).withDeadlineAfter(nanos, TimeUnit.NANOSECONDS);
  }
}
