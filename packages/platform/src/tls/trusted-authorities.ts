import type { NamedFile, WatchedFiles } from "../process/watch-files.ts";
import { watchFiles } from "../process/watch-files.ts";
import type { Logger } from "../telemetry/logger.ts";
import { parseCertificates } from "./parse-certificates.ts";

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
    parse: ([pem]) => {
      // There are as many contents as files.
      const content = pem as Buffer;
      parseCertificates(file, content);
      return content;
    },
    ...(onChange && { onChange }),
  });
}
