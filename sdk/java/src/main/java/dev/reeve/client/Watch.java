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
 * The events of a run, each once and in order, over any number of lost connections, to the run's end. {@link #hasNext} waits for
 * an event. It throws a {@link ReeveException} when the server refuses, or when nothing came for the patience of the client;
 * asked again, it goes on from where it was. Close it; it is not safe for concurrent use.
 */
public final class Watch implements Iterator<RunEvent>, AutoCloseable {
  private final Source source;
  private final WatchRunRequest request;
  private final Deque<RunEvent> waiting = new ArrayDeque<>();
  private WatchRunResponse message = WatchRunResponse.getDefaultInstance();
  private int through;
  private RunStatus end = RunStatus.RUN_STATUS_UNSPECIFIED;
  private EventStream stream;
  private int failures;
  private long until;

  Watch(Source source, WatchRunRequest request) {
    this.source = source;
    this.request = request;
    through = request.getAfterSequence();
  }

  static WatchRunRequest request(String runId, int after, Collection<EventFamily> families) {
    var request = WatchRunRequest.newBuilder().setRunId(runId).setAfterSequence(after).setDetailed(true);
    if (families != null) {
      request.setFamilies(EventFamilies.newBuilder().addAllFamilies(families));
    }
    return request.build();
  }

  /** Nothing that was asked for is missing up to this sequence: the place from which to watch again. */
  public int throughSequence() {
    return through;
  }

  /** How the run ended; unspecified until the watch has come to its end. */
  public RunStatus endStatus() {
    return end;
  }

  @Override
  public boolean hasNext() {
    until = System.nanoTime() + source.options.patience().toNanos();
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
      stream = EventStream.open(source, request.toBuilder().setAfterSequence(through).build());
    }
    message = stream.next();
    failures = 0;
    until = System.nanoTime() + source.options.patience().toNanos();
    for (RunEvent event : message.getEventsList()) {
      // Sequences are unsigned; a run has never so many that it matters.
      if (event.getSequence() > through) {
        waiting.add(event);
      }
    }
  }
}
