package dev.reeve.client;

import dev.reeve.tool.v1.AnswerToolCallRequest;
import dev.reeve.tool.v1.ClientToolServiceGrpc;
import dev.reeve.tool.v1.OfferToolsRequest;
import dev.reeve.tool.v1.OfferToolsResponse;
import dev.reeve.tool.v1.OfferedCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Offers tools and executes their calls, across lost connections, until the run has ended. */
final class ToolServer implements AutoCloseable {
  /** A call whose answer the server has not acknowledged. */
  private static final class Execution {
    Future<?> task;
    /** Set when the call was executed. */
    volatile AnswerToolCallRequest answer;
  }

  private final Source source;
  private final OfferToolsRequest request;
  private final ToolExecutor executor;
  private final Map<String, Execution> open = new ConcurrentHashMap<>();
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
      var closed = open.remove(message.getClosed().getCallId());
      if (closed != null) {
        closed.task.cancel(true);
      }
    }
  }

  /** Executes a call, unless it is known: then only its answer is sent again. */
  private void receive(OfferedCall call) {
    var known = open.get(call.getCallId());
    if (known == null) {
      var execution = new Execution();
      open.put(call.getCallId(), execution);
      execution.task =
          threads.submit(
              () -> {
                execution.answer = execute(call);
                send(execution.answer);
              });
    } else if (known.answer != null) {
      known.task = threads.submit(() -> send(known.answer));
    }
  }

  private AnswerToolCallRequest execute(OfferedCall call) {
    var answer =
        AnswerToolCallRequest.newBuilder()
            .setRunId(call.getRunId())
            .setCallId(call.getCallId())
            .setClientId(request.getManifest().getClientId());
    try {
      var result = executor.execute(call);
      return result.structured() == null
          ? answer.setText(result.text()).build()
          : answer.setStructured(result.structured()).build();
    } catch (Exception thrown) {
      return failed(answer, String.valueOf(thrown.getMessage()));
    }
  }

  private static AnswerToolCallRequest failed(AnswerToolCallRequest.Builder answer, String message) {
    var text = message.isEmpty() ? "the tool failed without a message" : message;
    return answer.setError(text.substring(0, Math.min(text.length(), 4_000))).build();
  }

  /** While no server can be reached, the call stays open, and its answer is sent when the server sends the call again. */
  private void send(AnswerToolCallRequest answer) {
    try {
      answer(answer);
    } catch (ReeveException error) {
      if (error.isTransient()) {
        return;
      }
      if (error.code() == Status.Code.INVALID_ARGUMENT && !answer.hasError()) {
        // The model learns why, and nobody waits for the deadline.
        send(failed(answer.toBuilder(), error.getMessage()));
        return;
      }
    }
    open.remove(answer.getCallId());
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
