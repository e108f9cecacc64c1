import { writeSync } from "node:fs";
import process from "node:process";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import type { Screen, ScreenEvent } from "./inbox/screen.ts";
import { TerminalScreen } from "./inbox/screen.ts";
import type { Style } from "./style.ts";
import { SharedOutput } from "./shared-output.ts";

/** Where a command writes. */
export interface Terminal {
  /** Writes results, which another program may read. */
  out(text: string): void;
  outBytes(bytes: Uint8Array): void;
  /** Writes messages for people: progress, hints, and errors. */
  note(text: string): void;
  readonly style: Style;
  /** Whether a person can answer questions. */
  readonly isInteractive: boolean;
  /** Reads standard input to its end. */
  read(): Promise<string>;
  /** Width in characters. */
  readonly columns: number;
  /**
   * Asks a person a question of one line. Returns undefined if the person ends the input. Rejects with the signal's reason when
   * `signal` aborts, and removes the question. Output appears above the question.
   */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Gives the terminal to the program that `use` starts, such as an editor. Output waits until it has ended. */
  lend<T>(use: () => Promise<T>): Promise<T>;
  /** Takes the whole terminal, until the screen is disposed. Only if `isInteractive`. */
  openScreen(report: (event: ScreenEvent) => void): Screen;
}

/**
 * Returns the terminal of this process. If the reader of its output exits, as `head` does, the process exits silently; if the
 * output cannot be written, it exits with the reason.
 */
export function processTerminal(): Terminal {
  process.stdout.on("error", exitOnFailedWrite);
  process.stderr.on("error", exitOnFailedWrite);
  const shared = new SharedOutput(process.stdin, process.stdout);
  return {
    out: (given) => shared.write(process.stdout, given),
    outBytes: (bytes) => void process.stdout.write(bytes),
    note: (given) => shared.write(process.stderr, given),
    style,
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    read: () => text(process.stdin),
    columns: process.stdout.columns ?? 100,
    ask: (question, signal) => shared.ask(question, signal),
    lend: (use) => shared.lend(use),
    openScreen: (report) =>
      new TerminalScreen({ input: process.stdin, output: process.stdout, style }, report),
  };
}

/** Adds nothing if stdout is not a terminal or NO_COLOR is set. */
const style: Style = (format, given) => styleText(format, given, { stream: process.stdout });

/** Exits with code 1, except if the reader has exited. */
function exitOnFailedWrite(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  try {
    writeSync(2, `error: the output cannot be written: ${error.message}\n`);
  } finally {
    process.exit(1);
  }
}
