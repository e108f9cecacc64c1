import type { NamedFile, WatchedFiles } from "../process/watch-files.ts";
import { watchFiles } from "../process/watch-files.ts";
import type { Logger } from "../telemetry/logger.ts";
import { parseCertificates, pemOf } from "./parse-certificates.ts";

/**
 * Returns the certificates of authorities in a PEM file, which is read again when it changes. Throws a Failure if it cannot be
 * used.
 */
export function watchAuthorities(
  file: NamedFile,
  { log, onChange }: { readonly log: Logger; readonly onChange?: () => void },
): WatchedFiles<Buffer> {
  return watchFiles([file], {
    noun: "file of trusted authorities",
    log,
    // There are as many contents as files.
    parse: ([pem]) => pemOf(parseCertificates(file, pem as Buffer)),
    ...(onChange && { onChange }),
  });
}
