import type { NamedFile, WatchedFiles } from "../process/watch-files.ts";
import { watchFiles } from "../process/watch-files.ts";
import type { Logger } from "../telemetry/logger.ts";
import { parseCertificates } from "./parse-certificates.ts";

/**
 * Returns the certificates of authorities in a PEM file, which is read again when it changes. Throws a Failure if it cannot be
 * used.
 */
export function watchAuthorities(file: NamedFile, log: Logger): WatchedFiles<Buffer> {
  return watchFiles([file], {
    log,
    parse: ([pem]) => {
      // There are as many contents as files.
      const content = pem as Buffer;
      parseCertificates(file, content);
      return content;
    },
    onChange: () => log.info({ caFile: file.path }, "the trusted authorities are replaced"),
  });
}
