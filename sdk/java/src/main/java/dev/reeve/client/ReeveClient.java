package dev.reeve.client;

import dev.reeve.approval.v1.AnswerQuestionRequest;
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
import dev.reeve.tool.v1.OfferToolsRequest;
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
 * A client of a server. It is thread-safe. Each request ends within the request timeout. While no server can be reached, the client
 * repeats the request within that time; a repeated request never has a second effect. Errors are thrown as {@link ReeveException}.
 */
public final class ReeveClient implements AutoCloseable {
  private final Source source;

  private ReeveClient(Source source) {
    this.source = source;
  }

  /** Returns a client of a server. It connects with its first request. */
  public static ReeveClient connect(ReeveOptions options) {
    return new ReeveClient(new Source(options));
  }

  /**
   * Starts a run. The same request id always returns the same run, even in another process. If it is empty, a new run is started.
   */
  public Run startRun(StartRunRequest request) {
    var whole =
        request.getRequestId().isEmpty()
            ? request.toBuilder().setRequestId(UUID.randomUUID().toString()).build()
            : request;
    return BackOff.retry(source, left -> runs(left).startRun(whole)).getRun();
  }

  /** Returns all events of a run, until its end. */
  public Watch watch(String runId) {
    return watch(runId, 0, null);
  }

  /** Returns the events of a run after a sequence. If {@code families} is not null, only events of these families. */
  public Watch watch(String runId, int after, Collection<EventFamily> families) {
    return new Watch(source, Watch.request(runId, after, families));
  }

  public Run getRun(String runId) {
    var request = GetRunRequest.newBuilder().setRunId(runId).build();
    return BackOff.retry(source, left -> runs(left).getRun(request)).getRun();
  }

  /**
   * Cancels a run. Cancelling a cancelled run succeeds. Cancelling a run that ended otherwise throws an exception with reason
   * {@code RUN_ENDED}.
   */
  public Run cancel(String runId, String reason) {
    var request = CancelRunRequest.newBuilder().setRunId(runId).setReason(reason).build();
    return BackOff.retry(source, left -> runs(left).cancelRun(request)).getRun();
  }

  /** Returns the pending approvals of a run, or of all runs if the id is empty, oldest first. */
  public List<Approval> listApprovals(String runId) {
    var found = new ArrayList<Approval>();
    var request = ListApprovalsRequest.newBuilder().setRunId(runId);
    do {
      var asked = request.build();
      var page =
          BackOff.retry(source, left -> approvals(left).listApprovals(asked));
      found.addAll(page.getApprovalsList());
      request.setPageToken(page.getNextPageToken());
    } while (!request.getPageToken().isEmpty());
    return found;
  }

  /**
   * Decides an approval. Exactly one decision takes effect; any other throws an exception with reason {@code APPROVAL_CLOSED}.
   */
  public Approval decide(DecideApprovalRequest request) {
    var whole =
        request.getDecisionId().isEmpty()
            ? request.toBuilder().setDecisionId(UUID.randomUUID().toString()).build()
            : request;
    return BackOff.retry(source, left -> approvals(left).decideApproval(whole))
        .getApproval();
  }

  /**
   * Answers a question of an agent as somebody who asked for its run, or declines it. People with the role approver may use {@code decide}.
   */
  public Approval answer(AnswerQuestionRequest request) {
    var whole =
        request.getDecisionId().isEmpty()
            ? request.toBuilder().setDecisionId(UUID.randomUUID().toString()).build()
            : request;
    return BackOff.retry(source, left -> approvals(left).answerQuestion(whole))
        .getApproval();
  }

  /**
   * Offers the tools of a request's manifest to the runs of a thread, or to one run, and executes their calls until the run has ended
   * or the thread is interrupted. Each call is executed once, by one client: an answer that a lost connection kept from the server is
   * sent again. Use a client id of its own for each process, and the same one if a process continues after a crash.
   */
  public void serveTools(OfferToolsRequest request, ToolExecutor executor) throws InterruptedException {
    try (var server = new ToolServer(source, request, executor)) {
      server.serve();
    }
  }

  /** Stores a file. Not repeated if the connection breaks, because the content has been consumed. */
  public Artifact upload(String name, String mediaType, InputStream content) throws IOException {
    return Transfer.upload(source, name, mediaType, content);
  }

  /** Writes the bytes of a stored file to {@code into}, and returns the description of the file. */
  public Artifact download(String artifactId, OutputStream into) throws IOException {
    return Transfer.download(source, artifactId, into);
  }

  /** Returns a generated client that uses this connection and its token, for methods that this class does not have. */
  public <S extends AbstractStub<S>> S stub(Function<Channel, S> newStub) {
    return source.authorized(newStub.apply(source.get()));
  }

  /** Closes the connection, and ends all requests on it. */
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
