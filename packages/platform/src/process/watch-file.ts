import type { Logger } from "../telemetry/logger.ts";
import type { WatchedFiles } from "./watch-files.ts";
import { unusableFile, watchFiles } from "./watch-files.ts";

export interface WatchFileOptions<Content> {
  /** The setting that names the file, for errors. */
  readonly setting: string;
  /** What the file is, as in "the token file". */
  readonly noun: string;
  /** Parses the text of the file. Throws an error that says what is wrong. */
  parse(text: string): Content;
  readonly log: Logger;
}

/**
 * Returns the content of a text file, and reads it again as `watchFiles` does: a change is in force two seconds later at the
 * latest, and a file with a mistake changes nothing. Throws a Failure if the file cannot be used at first.
 */
export function watchFile<Content>(
  path: string,
  { setting, noun, parse, log }: WatchFileOptions<Content>,
): WatchedFiles<Content> {
  const file = { setting, path };
  return watchFiles([file], {
    noun,
    log,
    parse: ([bytes]) => {
      try {
        return parse(bytes?.toString() ?? "");
      } catch (error) {
        throw unusableFile(file, error);
      }
    },
  });
}
