import type { Clock } from "../async/clock.ts";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { watchFiles } from "../process/watch-files.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { CertifiedKey } from "./certified-key.ts";
import { parseCertifiedKey } from "./certified-key.ts";
import { reportExpiry } from "./report-expiry.ts";
import type { ServerTlsSettings } from "./tls-settings.ts";
import { watchAuthorities } from "./trusted-authorities.ts";

/** The certificate of a port and the authorities of its clients, which are replaced when their files change. */
export interface ServerTls extends Disposable {
  readonly certified: CertifiedKey;
  /** The certificates of the authorities that sign those of clients, as PEM. Undefined: clients are not asked for one. */
  readonly clientAuthorities: Buffer | undefined;
  /** Calls `use` after each change. */
  onChange(use: () => void): void;
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
  settings: ServerTlsSettings,
  { clock, log }: ServerTlsDependencies,
): ServerTls | undefined {
  const files = filesOf(settings);
  if (files === undefined) return undefined;
  const { cert, key, clientCa } = files;
  using opening = new DisposableStack();
  let changed: (() => void) | undefined;
  const onChange = () => changed?.();
  const certified = opening.use(
    watchFiles([cert, key], {
      noun: "certificate",
      log,
      parse: ([certPem, keyPem]) => {
        // There are as many contents as files.
        const contents = [certPem as Buffer, keyPem as Buffer] as const;
        return parseCertifiedKey({ cert, key }, contents, clock.now());
      },
      onChange,
    }),
  );
  const authorities = clientCa && opening.use(watchAuthorities(clientCa, { log, onChange }));
  opening.use(reportExpiry(cert.path, () => certified.current.expiresAt, { clock, log }));
  const resources = opening.move();
  return {
    get certified() {
      return certified.current;
    },
    get clientAuthorities() {
      return authorities?.current;
    },
    onChange(use) {
      changed = use;
    },
    [Symbol.dispose]: () => resources.dispose(),
  };
}

function filesOf({
  REEVE_TLS_CERT_FILE: cert,
  REEVE_TLS_KEY_FILE: key,
  REEVE_TLS_CLIENT_CA_FILE: clientCa,
}: ServerTlsSettings) {
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const message =
      clientCa === undefined
        ? "set both REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE, or neither"
        : "REEVE_TLS_CLIENT_CA_FILE needs REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE, because only a port with TLS receives certificates";
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
  }
  return {
    cert: { setting: "REEVE_TLS_CERT_FILE", path: cert },
    key: { setting: "REEVE_TLS_KEY_FILE", path: key },
    clientCa:
      clientCa === undefined ? undefined : { setting: "REEVE_TLS_CLIENT_CA_FILE", path: clientCa },
  };
}
