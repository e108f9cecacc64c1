package dev.reeve.client;

import io.grpc.CallCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.AbstractStub;
import java.io.ByteArrayInputStream;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/** Holds the current connection, and replaces it when it becomes silent. */
final class Source implements AutoCloseable {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  final ReeveOptions options;
  private ManagedChannel current;

  Source(ReeveOptions options) {
    this.options = options;
    current = open();
  }

  synchronized ManagedChannel get() {
    return current;
  }

  /** Resets the backoff of the channel, so that only the backoff of this library determines when it connects again. */
  void connectAgain() {
    get().resetConnectBackoff();
  }

  /** Replaces the suspect connection, unless it was already replaced. Other streams on it are cut off, and reconnect. */
  synchronized void renew(ManagedChannel suspect) {
    if (suspect == current) {
      current = open();
      suspect.shutdownNow();
    }
  }

  /** Returns the generated client with the token attached. */
  <S extends AbstractStub<S>> S authorized(S stub) {
    return options.token() == null ? stub : stub.withCallCredentials(new Bearer(options.token()));
  }

  @Override
  public synchronized void close() {
    current.shutdownNow();
  }

  private ManagedChannel open() {
    boolean isSecure = options.address().getScheme().equals("https");
    int given = options.address().getPort();
    int port = given >= 0 ? given : isSecure ? 443 : 80;
    var builder =
        NettyChannelBuilder.forAddress(options.address().getHost(), port)
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(5, TimeUnit.SECONDS)
            .disableRetry();
    if (!isSecure) {
      return builder.usePlaintext().build();
    }
    try {
      var context = GrpcSslContexts.forClient();
      if (options.ca() != null) {
        context.trustManager(new ByteArrayInputStream(options.ca()));
      }
      return builder.sslContext(context.build()).build();
    } catch (SSLException | IllegalArgumentException wrong) {
      throw new IllegalArgumentException("ca contains no usable certificates", wrong);
    }
  }

  private static final class Bearer extends CallCredentials {
    private final String token;

    Bearer(String token) {
      this.token = token;
    }

    @Override
    public void applyRequestMetadata(RequestInfo request, Executor executor, MetadataApplier applier) {
      Metadata headers = new Metadata();
      headers.put(AUTHORIZATION, "Bearer " + token);
      applier.apply(headers);
    }
  }
}
