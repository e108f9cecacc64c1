package dev.reeve.client;

import dev.reeve.run.v1.RunServiceGrpc;
import dev.reeve.run.v1.WatchRunRequest;
import dev.reeve.run.v1.WatchRunResponse;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Receives the events of a run over one connection, one message at a time, and detects when the connection is silent. */
final class EventStream implements ClientResponseObserver<WatchRunRequest, WatchRunResponse> {
  /** A message, or the error that ended the stream. Both are null if the stream ended without an error. */
  private record Received(WatchRunResponse message, Throwable thrown) {}

  private final Source source;
  private final ManagedChannel channel;
  private final String runId;
  // Bounded by flow control: one more message is requested for each message that is taken.
  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private ClientCallStreamObserver<WatchRunRequest> call;

  private EventStream(Source source, String runId) {
    this.source = source;
    this.runId = runId;
    channel = source.get();
  }

  static EventStream open(Source source, WatchRunRequest request) {
    var stream = new EventStream(source, request.getRunId());
    source.authorized(RunServiceGrpc.newStub(stream.channel)).watchRun(request, stream);
    return stream;
  }

  WatchRunResponse next() {
    long idleTimeoutMs = source.options.idleTimeout().toMillis();
    Received next;
    try {
      next = received.poll(idleTimeoutMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw ReeveException.lost("the watch of run " + runId + " was interrupted");
    }
    if (next == null) {
      source.renew(channel);
      throw ReeveException.lost("the stream of run " + runId + " was silent for " + idleTimeoutMs + " ms");
    }
    if (next.thrown() != null) {
      throw ReeveException.from(next.thrown());
    }
    if (next.message() == null) {
      throw ReeveException.lost("the stream of run " + runId + " ended before the run");
    }
    call.request(1);
    return next.message();
  }

  void close() {
    call.cancel("the watch was closed", null);
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<WatchRunRequest> call) {
    this.call = call;
    call.disableAutoRequestWithInitial(2);
  }

  @Override
  public void onNext(WatchRunResponse message) {
    received.add(new Received(message, null));
  }

  @Override
  public void onError(Throwable thrown) {
    received.add(new Received(null, thrown));
  }

  @Override
  public void onCompleted() {
    received.add(new Received(null, null));
  }
}
