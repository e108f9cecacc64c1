import type { Clock } from "../async/clock.ts";
import { every } from "../async/every.ts";
import { registerGauge } from "../telemetry/gauges.ts";
import type { Logger } from "../telemetry/logger.ts";

const dayMs = 86_400_000;
/** The remaining time from which on the log warns. */
const warnMs = 14 * dayMs;
/** How often the remaining time is checked. */
const checkMs = 60_000;

/**
 * Exports the seconds to the end of a certificate, negative after it, and warns once a day in the last 14 days, until it is
 * disposed. `clock` is wall-clock time.
 */
export function reportExpiry(
  certFile: string,
  expiresAt: () => number,
  { clock, log }: { readonly clock: Pick<Clock, "now">; readonly log: Logger },
): Disposable {
  const resources = new DisposableStack();
  const leftMs = () => expiresAt() - clock.now();
  resources.use(
    registerGauge({
      name: "reeve_tls_certificate_expiry_seconds",
      help: "Seconds until the certificate of the port, or one of its chain, expires. Negative after that.",
      labels: [],
      read: () => Promise.resolve({ labels: {}, value: leftMs() / 1_000 }),
    }),
  );
  let warnedAt = -Infinity;
  const check = () => {
    if (leftMs() >= warnMs || clock.now() - warnedAt < dayMs) return;
    warnedAt = clock.now();
    const at = new Date(expiresAt()).toISOString();
    log.warn(
      { certFile, expiresAt: at },
      leftMs() > 0
        ? "the certificate expires in less than 14 days; replace its files"
        : "the certificate has expired; replace its files",
    );
  };
  check();
  resources.use(every(checkMs, check));
  return resources;
}
