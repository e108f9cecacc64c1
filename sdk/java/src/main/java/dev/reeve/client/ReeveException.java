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

/** The error of a request. Switch on the reason, or on the code if the reason is empty; never on the message. */
public final class ReeveException extends RuntimeException {
  /** Status codes of broken connections. A response of a Reeve server always has details. */
  private static final Set<Status.Code> LOST =
      EnumSet.of(
          Status.Code.ABORTED,
          Status.Code.CANCELLED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.INTERNAL,
          Status.Code.UNAVAILABLE,
          Status.Code.UNKNOWN);

  /** A field of a request that violates the contract. */
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

  /** Converts the error of a gRPC call. */
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

  /** Returns the error of a connection that counts as lost although the network reported no error. */
  static ReeveException lost(String message) {
    return from(Status.UNAVAILABLE.withDescription(message).asRuntimeException());
  }

  /** Returns the gRPC status code. */
  public Status.Code code() {
    return code;
  }

  /**
   * Returns a value of {@code reeve.error.v1.ErrorReason} without its prefix, for example {@code RUN_NOT_FOUND};
   * {@code CONNECTION_LOST} if no server could be reached in time; or an empty string if the response is not from a Reeve server.
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

  /** Returns the delay before the next attempt. Zero if the server did not request one. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** Returns whether the same request may succeed later, or through another server. */
  public boolean isTransient() {
    return code == Status.Code.UNAVAILABLE;
  }
}
