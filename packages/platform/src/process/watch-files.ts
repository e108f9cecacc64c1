import { readFileSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { every } from "../async/every.ts";
import { Failure } from "../failure.ts";
import type { Logger } from "../telemetry/logger.ts";

/** How often the files are read. A change takes effect after at most twice as long. */
const readMs = 1_000;
/** How often unchanged contents are parsed again that could not be used. */
const retryMs = 30_000;

/** A file that a setting names. */
export interface NamedFile {
  readonly setting: string;
  readonly path: string;
}

export interface WatchFilesOptions<Value> {
  /** What the files are, as in "the token file". */
  readonly noun: string;
  readonly log: Logger;
  /** Returns the value of the contents, in the order of the files. Throws a Failure if they cannot be used. */
  readonly parse: (contents: readonly Buffer[]) => Value;
  /** Called with each new value after the first, when it is the current one. */
  readonly onChange?: (value: Value) => void;
}

/** The value of files. Disposing it ends the reads. */
export interface WatchedFiles<Value> extends Disposable {
  readonly current: Value;
}

/**
 * Returns the value of files, and reads them again every second, through symbolic links. Throws a Failure if they cannot be
 * used. When that happens later, the value stays as it was, and the log says once what is wrong.
 */
export function watchFiles<Value>(
  files: readonly NamedFile[],
  { noun, log, parse, onChange }: WatchFilesOptions<Value>,
): WatchedFiles<Value> {
  const readAll = () => files.map(readNamed);
  const paths = files.map(({ path }) => path);
  let used = readAll();
  let current = parse(used);
  let before = used;
  /** What was parsed last without success: to parse a large file takes time. */
  let refused: ReturnType<typeof refusedAt> | undefined;
  let problem = "";
  const read = () => {
    try {
      const next = readAll();
      // A program may be writing the files: a change counts once it is read twice.
      const isWhole = areEqual(next, before);
      before = next;
      if (!isWhole) return;
      if (refused !== undefined && areEqual(next, refused.contents) && refused.isRecent()) return;
      if (!areEqual(next, used)) {
        refused = refusedAt(next);
        current = parse(next);
        used = next;
        onChange?.(current);
        log.info({ paths }, `the ${noun} was read again`);
      }
      refused = undefined;
      problem = "";
    } catch (error) {
      const message = messageOf(error);
      if (message !== problem) {
        log.error({ paths, problem: message }, `the ${noun} is not used`);
      }
      problem = message;
    }
  };
  const reading = every(readMs, read);
  return {
    get current() {
      return current;
    },
    [Symbol.dispose]: () => reading[Symbol.dispose](),
  };
}

/** Contents that could not be used. Later they may be usable: a certificate becomes valid. */
function refusedAt(contents: readonly Buffer[]) {
  const atMs = performance.now();
  return { contents, isRecent: () => performance.now() - atMs < retryMs };
}

/** Returns the Failure of a file that cannot be used. */
export function unusableFile({ setting, path }: NamedFile, cause: unknown): Failure {
  const message = `${setting} ${path}: ${messageOf(cause)}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}

function readNamed(file: NamedFile): Buffer {
  try {
    return readFileSync(file.path);
  } catch (error) {
    const problem = problems[(error as NodeJS.ErrnoException).code ?? ""];
    throw unusableFile(file, problem ?? error);
  }
}

/** What is wrong with a file that cannot be read, by the code of the error. */
const problems: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file; check the path, and that its folder is mounted",
  EACCES: "the user of this process may not read it; change its owner or its permissions",
  EISDIR: "it is a folder; name the file in it",
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function areEqual(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.every((content, index) => others[index]?.equals(content) === true);
}
