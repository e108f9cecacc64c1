package dev.reeve.client;

import dev.reeve.tool.v1.ClientToolServiceGrpc;
import dev.reeve.tool.v1.OfferToolsRequest;
import dev.reeve.tool.v1.OfferToolsResponse;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Receives the calls of a client's tools over one connection, and detects when the connection is silent. */
final class ToolStream implements ClientResponseObserver<OfferToolsRequest, OfferToolsResponse>, AutoCloseable {
  /** A message, or the error that ended the stream. Both are null if the stream ended without an error. */
  private record Received(OfferToolsResponse message, Throwable thrown) {}

  private final Source source;
  private final ManagedChannel channel;
  // Bounded by flow control: one more message is requested for each message that is taken.
  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private ClientCallStreamObserver<OfferToolsRequest> call;

  private ToolStream(Source source) {
    this.source = source;
    channel = source.get();
  }

  static ToolStream open(Source source, OfferToolsRequest request) {
    var stream = new ToolStream(source);
    source.authorized(ClientToolServiceGrpc.newStub(stream.channel)).offerTools(request, stream);
    return stream;
  }

  OfferToolsResponse next() throws InterruptedException {
    long idleTimeoutMs = source.options.idleTimeout().toMillis();
    Received next = received.poll(idleTimeoutMs, TimeUnit.MILLISECONDS);
    if (next == null) {
      source.renew(channel);
      throw ReeveException.lost("the stream of the tools was silent for " + idleTimeoutMs + " ms");
    }
    if (next.thrown() != null) {
      throw ReeveException.from(next.thrown());
    }
    if (next.message() == null) {
      throw ReeveException.lost("the stream of the tools ended early");
    }
    call.request(1);
    return next.message();
  }

  @Override
  public void close() {
    call.cancel("the tools are not offered anymore", null);
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<OfferToolsRequest> call) {
    this.call = call;
    call.disableAutoRequestWithInitial(2);
  }

  @Override
  public void onNext(OfferToolsResponse message) {
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
