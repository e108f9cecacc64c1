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

/** What one connection gives of a run, one message at a time. Notices when it says nothing. */
final class EventStream implements ClientResponseObserver<WatchRunRequest, WatchRunResponse> {
  /** A message, or how the stream ended; one or none of them is null. */
  private record Heard(WatchRunResponse message, Throwable thrown) {}

  private final Source source;
  private final ManagedChannel channel;
  private final String runId;
  // Bounded by what is asked for: one message more for each that was taken.
  private final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
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
    long silenceMs = source.options.silence().toMillis();
    Heard next;
    try {
      next = heard.poll(silenceMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw ReeveException.lost("the watcher of run " + runId + " was interrupted");
    }
    if (next == null) {
      source.renew(channel);
      throw ReeveException.lost("nothing was heard of run " + runId + " for " + silenceMs + " ms");
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
    call.cancel("the watcher left", null);
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<WatchRunRequest> call) {
    this.call = call;
    call.disableAutoRequestWithInitial(2);
  }

  @Override
  public void onNext(WatchRunResponse message) {
    heard.add(new Heard(message, null));
  }

  @Override
  public void onError(Throwable thrown) {
    heard.add(new Heard(null, thrown));
  }

  @Override
  public void onCompleted() {
    heard.add(new Heard(null, null));
  }
}
