package dev.reeve.client;

import io.grpc.StatusRuntimeException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongFunction;

final class BackOff {
  private static final long FIRST_DELAY_MS = 100;
  private static final long MAX_DELAY_MS = 5_000;

  private BackOff() {}

  /**
   * Waits before the next attempt: with exponential backoff and jitter, but at least as long as the server requested. Throws the
   * error if it is permanent, or if the next attempt would start after {@code until}, a time of {@link System#nanoTime}.
   */
  static void pause(ReeveException error, int failures, long until) {
    long maxMs = Math.min(FIRST_DELAY_MS << Math.min(failures - 1, 10), MAX_DELAY_MS);
    long random = (long) (maxMs * ThreadLocalRandom.current().nextDouble(0.5, 1));
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

  /**
   * Sends a request that is safe to repeat, and repeats it while no server can be reached. The request receives the remaining time
   * in nanoseconds.
   */
  static <R> R retry(Source source, LongFunction<R> request) {
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
