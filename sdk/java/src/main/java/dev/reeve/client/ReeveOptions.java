package dev.reeve.client;

import java.net.URI;
import java.time.Duration;
import java.util.Objects;

/**
 * The address and credentials of a server, and the time limits of its client.
 *
 * @param address {@code http://host:port} or {@code https://host:port}
 * @param token the bearer token, or null to send requests without credentials
 * @param ca PEM certificates of the authorities to trust, or null to trust those of the system
 * @param requestTimeout the time limit of a request, all attempts together
 * @param transferTimeout the time limit of an upload or a download
 * @param idleTimeout how long a stream may be silent, heartbeats included, before its connection counts as lost
 * @param reconnectTimeout how long a watch tries to reconnect without receiving anything before it gives up
 */
public record ReeveOptions(
    URI address,
    String token,
    byte[] ca,
    Duration requestTimeout,
    Duration transferTimeout,
    Duration idleTimeout,
    Duration reconnectTimeout) {

  /** @throws IllegalArgumentException if the address is not the URL of a server or a time limit is not positive */
  public ReeveOptions {
    String scheme = Objects.toString(address.getScheme());
    if (!scheme.matches("https?") || address.getHost() == null) {
      throw new IllegalArgumentException("\"" + address + "\" is not a server address; use http://host:port");
    }
    for (Duration time : new Duration[] {requestTimeout, transferTimeout, idleTimeout, reconnectTimeout}) {
      if (time.isNegative() || time.isZero()) {
        throw new IllegalArgumentException("a time limit is " + time + "; use a positive duration");
      }
    }
  }

  /**
   * Returns options with the default time limits: 10 s for a request, 5 min for a transfer, 15 s until a silent connection counts as
   * lost, and 30 s for reconnecting.
   */
  public static ReeveOptions of(String address, String token) {
    return new ReeveOptions(
        URI.create(address),
        token,
        null,
        Duration.ofSeconds(10),
        Duration.ofMinutes(5),
        Duration.ofSeconds(15),
        Duration.ofSeconds(30));
  }

  public ReeveOptions withCa(byte[] ca) {
    return new ReeveOptions(address, token, ca, requestTimeout, transferTimeout, idleTimeout, reconnectTimeout);
  }

  public ReeveOptions withTimes(Duration requestTimeout, Duration idleTimeout, Duration reconnectTimeout) {
    return new ReeveOptions(address, token, ca, requestTimeout, transferTimeout, idleTimeout, reconnectTimeout);
  }
}
