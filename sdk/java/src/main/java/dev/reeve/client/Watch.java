package dev.reeve.client;

import dev.reeve.run.v1.EventFamilies;
import dev.reeve.run.v1.EventFamily;
import dev.reeve.run.v1.RunEvent;
import dev.reeve.run.v1.RunStatus;
import dev.reeve.run.v1.WatchRunRequest;
import dev.reeve.run.v1.WatchRunResponse;
import io.grpc.StatusRuntimeException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The events of a run, each exactly once and in order, across lost connections, until the run ends. {@link #hasNext} waits for an
 * event. It throws a {@link ReeveException} if the server refuses the request, or if nothing is received for the reconnect timeout;
 * calling it again continues after the last event. The caller must close the watch. It is not safe for concurrent use.
 */
public final class Watch implements Iterator<RunEvent>, AutoCloseable {
  private final Source source;
  private final WatchRunRequest request;
  private final Deque<RunEvent> waiting = new ArrayDeque<>();
  private WatchRunResponse message = WatchRunResponse.getDefaultInstance();
  private int through;
  // Covers the events of the last message, even those that the caller has not taken yet.
  private String token;
  private RunStatus end = RunStatus.RUN_STATUS_UNSPECIFIED;
  private EventStream stream;
  private int failures;
  private long until;

  Watch(Source source, WatchRunRequest request) {
    this.source = source;
    this.request = request;
    through = request.getAfterSequence();
    token = request.getResumeToken();
  }

  static WatchRunRequest request(String runId, int after, Collection<EventFamily> families) {
    var request = WatchRunRequest.newBuilder().setRunId(runId).setAfterSequence(after).setDetailed(true);
    if (families != null) {
      request.setFamilies(EventFamilies.newBuilder().addAllFamilies(families));
    }
    return request.build();
  }

  /** Returns the sequence up to which all selected events were received. Use it to resume the watch. */
  public int throughSequence() {
    return through;
  }

  /** Returns the terminal status of the run. It is unspecified until the watch has ended. */
  public RunStatus endStatus() {
    return end;
  }

  @Override
  public boolean hasNext() {
    until = System.nanoTime() + source.options.reconnectTimeout().toNanos();
    while (waiting.isEmpty()) {
      through = Math.max(through, message.getThroughSequence());
      if (message.getEndStatusValue() != 0) {
        end = message.getEndStatus();
        close();
        return false;
      }
      try {
        receive();
      } catch (StatusRuntimeException | ReeveException thrown) {
        close();
        failures += 1;
        BackOff.pause(ReeveException.from(thrown), failures, until);
        source.connectAgain();
      }
    }
    return true;
  }

  @Override
  public RunEvent next() {
    if (!hasNext()) {
      throw new NoSuchElementException("run " + request.getRunId() + " has ended");
    }
    RunEvent event = waiting.remove();
    through = event.getSequence();
    return event;
  }

  /** Ends the stream. */
  @Override
  public void close() {
    if (stream != null) {
      stream.close();
      stream = null;
    }
  }

  private void receive() {
    if (stream == null) {
      stream = EventStream.open(source, request.toBuilder().setAfterSequence(through).setResumeToken(token).build());
    }
    message = stream.next();
    token = message.getResumeToken();
    failures = 0;
    until = System.nanoTime() + source.options.reconnectTimeout().toNanos();
    for (RunEvent event : message.getEventsList()) {
      // Sequences are unsigned, but no run has so many events that the sign matters.
      if (event.getSequence() > through) {
        waiting.add(event);
      }
    }
  }
}
