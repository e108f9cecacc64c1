import type { Clock } from "../async/clock.ts";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { watchFiles } from "../process/watch-files.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { CertifiedKey } from "./certified-key.ts";
import { parseCertifiedKey } from "./certified-key.ts";
import { reportExpiry } from "./report-expiry.ts";
import type { ServerTlsSettings } from "./tls-settings.ts";

/** The certificate of a port, which is replaced when its files change. */
export interface ServerTls extends Disposable {
  readonly certified: CertifiedKey;
  /** Calls `use` with each later certificate. An error of `use` keeps the one before. */
  onChange(use: (certified: CertifiedKey) => void): void;
}

interface ServerTlsDependencies {
  readonly clock: Pick<Clock, "now">;
  readonly log: Logger;
}

/**
 * Returns the certificate of a port from the files of its settings, or undefined if none are set. Follows the files, exports
 * the time to the end of the certificate as a metric, and warns of the end in the log. Throws a Failure if a file cannot be
 * used.
 */
export function openServerTls(
  { REEVE_TLS_CERT_FILE: certFile, REEVE_TLS_KEY_FILE: keyFile }: Partial<ServerTlsSettings>,
  { clock, log }: ServerTlsDependencies,
): ServerTls | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    const message = "set both REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE, or neither";
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
  }
  const cert = { setting: "REEVE_TLS_CERT_FILE", path: certFile };
  const key = { setting: "REEVE_TLS_KEY_FILE", path: keyFile };
  let use: ((certified: CertifiedKey) => void) | undefined;
  const watched = watchFiles([cert, key], {
    log,
    parse: ([certPem, keyPem]) => {
      // There are as many contents as files.
      const contents = [certPem as Buffer, keyPem as Buffer] as const;
      return parseCertifiedKey({ cert, key }, contents, clock.now());
    },
    onChange: (certified) => {
      use?.(certified);
      const expiresAt = new Date(certified.expiresAt).toISOString();
      log.info({ certFile, expiresAt }, "the certificate is replaced");
    },
  });
  const reports = reportExpiry(certFile, () => watched.current.expiresAt, { clock, log });
  return {
    get certified() {
      return watched.current;
    },
    onChange(next) {
      use = next;
    },
    [Symbol.dispose]() {
      reports[Symbol.dispose]();
      watched[Symbol.dispose]();
    },
  };
}
