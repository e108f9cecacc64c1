package dev.reeve.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Why something did not succeed. Switch on the reason, or on the code where it is empty; never on the message. */
public final class ReeveException extends RuntimeException {
  /** What a connection that broke is called. An answer of the server has details and is none of these. */
  private static final Set<Status.Code> LOST =
      EnumSet.of(
          Status.Code.ABORTED,
          Status.Code.CANCELLED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.INTERNAL,
          Status.Code.UNAVAILABLE,
          Status.Code.UNKNOWN);

  /** A field of a request that breaks the contract. */
  public record Violation(String field, String description) {}

  private final Status.Code code;
  private final String reason;
  private final List<Violation> violations;
  private final Map<String, String> metadata;
  private final Duration retryAfter;

  private ReeveException(
      Throwable cause, String message, Status.Code given, ErrorInfo info, BadRequest request, RetryInfo retry) {
    super(message, cause);
    boolean isLost = info == null && LOST.contains(given);
    code = isLost ? Status.Code.UNAVAILABLE : given;
    reason = isLost ? "CONNECTION_LOST" : info == null ? "" : info.getReason();
    metadata = info == null ? Map.of() : Map.copyOf(info.getMetadataMap());
    violations =
        request == null
            ? List.of()
            : request.getFieldViolationsList().stream()
                .map(each -> new Violation(each.getField(), each.getDescription()))
                .toList();
    retryAfter =
        retry == null
            ? Duration.ZERO
            : Duration.ofSeconds(retry.getRetryDelay().getSeconds(), retry.getRetryDelay().getNanos());
  }

  /** What a server, or the way to it, gave. */
  static ReeveException from(Throwable thrown) {
    if (thrown instanceof ReeveException already) {
      return already;
    }
    Status status = Status.fromThrowable(thrown);
    String message = Objects.toString(status.getDescription(), String.valueOf(status.getCause()));
    ErrorInfo info = null;
    BadRequest request = null;
    RetryInfo retry = null;
    var details = StatusProto.fromThrowable(thrown);
    try {
      for (Any detail : details == null ? List.<Any>of() : details.getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          info = detail.unpack(ErrorInfo.class);
        } else if (detail.is(BadRequest.class)) {
          request = detail.unpack(BadRequest.class);
        } else if (detail.is(RetryInfo.class)) {
          retry = detail.unpack(RetryInfo.class);
        }
      }
    } catch (InvalidProtocolBufferException broken) {
      thrown.addSuppressed(broken);
    }
    return new ReeveException(thrown, message, status.getCode(), info, request, retry);
  }

  /** A connection that is lost although nothing said so. */
  static ReeveException lost(String message) {
    return from(Status.UNAVAILABLE.withDescription(message).asRuntimeException());
  }

  /** The gRPC status code. */
  public Status.Code code() {
    return code;
  }

  /**
   * A name of {@code reeve.error.v1.ErrorReason} without its prefix, as {@code RUN_NOT_FOUND}; {@code CONNECTION_LOST} when no
   * server could be reached in time; empty when what answered is no Reeve.
   */
  public String reason() {
    return reason;
  }

  public List<Violation> violations() {
    return violations;
  }

  public Map<String, String> metadata() {
    return metadata;
  }

  /** How long to wait before another attempt; zero when the server does not say. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** Whether the same may succeed at another time, or by another way. */
  public boolean isTransient() {
    return code == Status.Code.UNAVAILABLE;
  }
}
