package dev.reeve.client;

import io.grpc.StatusRuntimeException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongFunction;

final class BackOff {
  private static final long FIRST_MS = 100;
  private static final long LONGEST_MS = 5_000;

  private BackOff() {}

  /**
   * Waits before the next attempt: longer each time, not all clients at once, and no less than the server asked for. Throws the
   * error instead if that would be later than {@code until}, a time of {@link System#nanoTime}.
   */
  static void pause(ReeveException error, int failures, long until) {
    long most = Math.min(FIRST_MS << Math.min(failures - 1, 10), LONGEST_MS);
    long random = (long) (most * ThreadLocalRandom.current().nextDouble(0.5, 1));
    long delayMs = Math.max(random, error.retryAfter().toMillis());
    if (!error.isTransient() || System.nanoTime() + delayMs * 1_000_000 - until >= 0) {
      throw error;
    }
    try {
      Thread.sleep(delayMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      error.addSuppressed(interrupted);
      throw error;
    }
  }

  /** Makes a request that may be repeated, again while no server can be reached; it is given the nanoseconds that are left. */
  static <R> R persistently(Source source, LongFunction<R> request) {
    long until = System.nanoTime() + source.options.requestTimeout().toNanos();
    for (int failures = 1; ; failures++) {
      try {
        return request.apply(Math.max(1, until - System.nanoTime()));
      } catch (StatusRuntimeException thrown) {
        pause(ReeveException.from(thrown), failures, until);
        source.connectAgain();
      }
    }
  }
}
