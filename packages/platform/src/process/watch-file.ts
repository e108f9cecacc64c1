import { readFileSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { every } from "../async/every.ts";
import { Failure } from "../failure.ts";
import type { Logger } from "../telemetry/logger.ts";

/** How often the file is read. A change is in force after at most twice as long. */
const readMs = 1_000;

/** What a file says now. Disposing it ends the watch. */
export interface WatchedFile<Content> extends Disposable {
  readonly current: Content;
}

export interface WatchOptions<Content> {
  /** The setting that names the file, for errors. */
  readonly setting: string;
  /** What the file is, as in "the token file". */
  readonly noun: string;
  /** Parses the text of the file. Throws an error that says what is wrong. */
  parse(text: string): Content;
  readonly log: Logger;
}

/**
 * Returns the content of a file, and reads the file again every second, so that a change is in force two seconds later at the
 * latest. Throws a Failure if the file cannot be read or has a mistake. When that happens later, the content stays as it was, and
 * the log says what is wrong.
 */
export function watchFile<Content>(
  path: string,
  { setting, noun, parse, log }: WatchOptions<Content>,
): WatchedFile<Content> {
  const read = () => withProblem(`${setting} ${path}`, () => readFileSync(path, "utf8"));
  const parsed = (text: string) => withProblem(`${setting} ${path}`, () => parse(text));
  let text = read();
  let current = parsed(text);
  let before = text;
  let problem = "";
  const refresh = () => {
    try {
      const next = read();
      // An editor may be writing the file: a change counts once it is read twice.
      const isWhole = next === before;
      before = next;
      if (!isWhole) return;
      if (next !== text) {
        current = parsed(next);
        log.info({ path }, `the ${noun} was read again`);
      }
      text = next;
      problem = "";
    } catch (error) {
      const { message } = error as Failure;
      if (message !== problem) log.error({ path, problem: message }, `the ${noun} is not used`);
      problem = message;
    }
  };
  const reading = every(readMs, refresh);
  return {
    get current() {
      return current;
    },
    [Symbol.dispose]: () => reading[Symbol.dispose](),
  };
}

function withProblem<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const message = `${file}: ${problem}`;
    throw new Failure("precondition", ErrorReason.INVALID_REQUEST, message, { cause });
  }
}
