package dev.reeve.client;

import dev.reeve.tool.v1.AnswerToolCallRequest;
import dev.reeve.tool.v1.ClientToolServiceGrpc;
import dev.reeve.tool.v1.OfferToolsRequest;
import dev.reeve.tool.v1.OfferToolsResponse;
import dev.reeve.tool.v1.OfferedCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Offers tools and executes their calls, across lost connections, until the run has ended. */
final class ToolServer implements AutoCloseable {
  private static final long FIRST_PAUSE_MS = 500;
  private static final long MAX_PAUSE_MS = 10_000;
  /** Clocks may differ: an execution is remembered for this time after the deadline of its call. */
  private static final long CLOCK_SKEW_MS = 60_000;
  private static final int MAX_ERROR_BYTES = 16_384;
  private static final Set<String> FINAL_REASONS = Set.of("CALL_CLOSED", "CALL_ANSWERED", "RUN_ENDED");

  /**
   * A call that is known until the server closes it or its deadline is over: a stream may deliver it again after its answer was
   * acknowledged.
   */
  private record Execution(FutureTask<?> task, long deadlineMs) {}

  private final Source source;
  private final OfferToolsRequest request;
  private final ToolExecutor executor;
  private final Map<String, Execution> known = new ConcurrentHashMap<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            var thread = new Thread(task, "reeve-tool");
            thread.setDaemon(true);
            return thread;
          });

  ToolServer(Source source, OfferToolsRequest request, ToolExecutor executor) {
    this.source = source;
    this.request = request;
    this.executor = executor;
  }

  void serve() throws InterruptedException {
    long reconnectNanos = source.options.reconnectTimeout().toNanos();
    long until = System.nanoTime() + reconnectNanos;
    int failures = 0;
    while (true) {
      try (var stream = ToolStream.open(source, request)) {
        while (true) {
          var message = stream.next();
          if (!message.hasReady()) {
            failures = 0;
          }
          until = System.nanoTime() + reconnectNanos;
          handle(message);
        }
      } catch (StatusRuntimeException | ReeveException thrown) {
        var error = ReeveException.from(thrown);
        if (error.reason().equals("RUN_ENDED")) {
          return;
        }
        failures += 1;
        BackOff.pause(error, failures, until);
        source.connectAgain();
      }
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }

  private void handle(OfferToolsResponse message) {
    if (message.hasCall()) {
      receive(message.getCall());
    } else if (message.hasClosed()) {
      var closed = known.remove(message.getClosed().getRunId() + "/" + message.getClosed().getCallId());
      if (closed != null) {
        closed.task().cancel(true);
      }
    }
  }

  /** Executes a call, unless it is known. */
  private void receive(OfferedCall call) {
    long before = System.currentTimeMillis() - CLOCK_SKEW_MS;
    known.values().removeIf(each -> each.task().isDone() && each.deadlineMs() < before);
    var key = call.getRunId() + "/" + call.getCallId();
    if (known.containsKey(key)) {
      return;
    }
    long deadlineMs = call.getDeadline().getSeconds() * 1_000 + call.getDeadline().getNanos() / 1_000_000;
    var task =
        new FutureTask<>(
            () -> {
              if (send(execute(call), deadlineMs)) {
                known.remove(key);
              }
              return null;
            });
    known.put(key, new Execution(task, deadlineMs));
    threads.execute(task);
  }

  private AnswerToolCallRequest execute(OfferedCall call) {
    var answer =
        AnswerToolCallRequest.newBuilder()
            .setRunId(call.getRunId())
            .setCallId(call.getCallId())
            .setClientId(request.getManifest().getClientId());
    try {
      var result = executor.execute(call);
      if (result == null) {
        return answer.setText("").build();
      }
      return result.structured() == null
          ? answer.setText(result.text()).build()
          : answer.setStructured(result.structured()).build();
    } catch (Throwable thrown) {
      // Also an error, such as a failed assertion: nobody else would answer the call.
      return failed(answer, thrown.getMessage() == null ? thrown.toString() : thrown.getMessage());
    }
  }

  private static AnswerToolCallRequest failed(AnswerToolCallRequest.Builder answer, String message) {
    var text = message.isEmpty() ? "the tool failed without a message" : message;
    var bytes = ByteBuffer.allocate(MAX_ERROR_BYTES);
    // Ends at a whole character when the buffer is full.
    StandardCharsets.UTF_8
        .newEncoder()
        .onMalformedInput(CodingErrorAction.REPLACE)
        .encode(CharBuffer.wrap(text), bytes, true);
    return answer.setError(StandardCharsets.UTF_8.decode(bytes.flip()).toString()).build();
  }

  /** Sends an answer until the server has it, or the deadline is over. Returns whether the server will never need it. */
  private boolean send(AnswerToolCallRequest executed, long deadlineMs) throws InterruptedException {
    var answer = executed;
    for (int failures = 1; ; failures++) {
      try {
        answer(answer);
        return false;
      } catch (ReeveException error) {
        if (Thread.interrupted()) {
          return false;
        }
        if (error.code() == Status.Code.NOT_FOUND || FINAL_REASONS.contains(error.reason())) {
          return true;
        }
        if (error.code() == Status.Code.INVALID_ARGUMENT) {
          if (answer.hasError()) {
            return false;
          }
          // The model learns why, and nobody waits for the deadline.
          answer = failed(answer.toBuilder(), error.getMessage());
          continue;
        }
        if (System.currentTimeMillis() >= deadlineMs) {
          return false;
        }
        long pauseMs = Math.min(FIRST_PAUSE_MS << Math.min(failures - 1, 10), MAX_PAUSE_MS);
        Thread.sleep((long) (pauseMs * ThreadLocalRandom.current().nextDouble(0.5, 1)));
      }
    }
  }

  private void answer(AnswerToolCallRequest answer) {
    BackOff.retry(
        source,
        left ->
            source
                .authorized(ClientToolServiceGrpc.newBlockingStub(source.get()))
                .withDeadlineAfter(left, TimeUnit.NANOSECONDS)
                .answerToolCall(answer));
  }
}
