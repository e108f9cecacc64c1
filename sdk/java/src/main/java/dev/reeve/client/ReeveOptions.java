package dev.reeve.client;

import java.net.URI;
import java.time.Duration;
import java.util.Objects;

/**
 * Where a server is, and how long its client bears what goes wrong.
 *
 * @param address {@code http://host:port} or {@code https://host:port}
 * @param token the bearer token; null: none is sent
 * @param ca certificates, in PEM, of the authorities to trust instead of those of the system; null: those of the system
 * @param requestTimeout how long a request may take, all attempts together
 * @param transferTimeout how long a file may be on its way
 * @param silence how long a stream may say nothing, heartbeats included, until its connection counts as lost
 * @param patience how long nothing may come of any attempt to watch until that is given up
 */
public record ReeveOptions(
    URI address,
    String token,
    byte[] ca,
    Duration requestTimeout,
    Duration transferTimeout,
    Duration silence,
    Duration patience) {

  /** @throws IllegalArgumentException for an address that is none, or a time that is not positive */
  public ReeveOptions {
    String scheme = Objects.toString(address.getScheme());
    if (!scheme.matches("https?") || address.getHost() == null) {
      throw new IllegalArgumentException("\"" + address + "\" is no address: write http://host:port");
    }
    for (Duration time : new Duration[] {requestTimeout, transferTimeout, silence, patience}) {
      if (time.isNegative() || time.isZero()) {
        throw new IllegalArgumentException("a time is " + time + ": it must be positive");
      }
    }
  }

  /** A server with 10 s for a request, 5 min for a file, 15 s of silence and 30 s of patience. */
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
    return new ReeveOptions(address, token, ca, requestTimeout, transferTimeout, silence, patience);
  }

  public ReeveOptions withTimes(Duration requestTimeout, Duration silence, Duration patience) {
    return new ReeveOptions(address, token, ca, requestTimeout, transferTimeout, silence, patience);
  }
}
