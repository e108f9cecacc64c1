import { writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";

/** Adds a color or a font style to text, or returns the text unchanged where the terminal shows none. */
export type Style = (
  format: "bold" | "cyan" | "dim" | "green" | "red" | "yellow",
  text: string,
) => string;

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
  /** Asks a person a question. Rejects with an AbortError when `signal` aborts; its cause is the signal's reason. */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

/**
 * Returns the terminal of this process. If the reader of its output exits, as `head` does, the process exits silently; if the
 * output cannot be written, it exits with the reason.
 */
export function processTerminal(): Terminal {
  process.stdout.on("error", exitOnFailedWrite);
  process.stderr.on("error", exitOnFailedWrite);
  return {
    out: (given) => void process.stdout.write(given),
    outBytes: (bytes) => void process.stdout.write(bytes),
    note: (given) => void process.stderr.write(given),
    // Adds nothing if stdout is not a terminal or NO_COLOR is set.
    style: (format, given) => styleText(format, given, { stream: process.stdout }),
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    read: () => text(process.stdin),
    columns: process.stdout.columns ?? 100,
    ask: async (question, signal) => {
      const reader = createInterface({ input: process.stdin, output: process.stdout });
      // On a terminal the reader takes Ctrl-C. The process then ends as it does without a question.
      reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
      try {
        return await reader.question(question, { signal });
      } finally {
        reader.close();
      }
    },
  };
}

/** Exits with code 1, except if the reader has exited. */
function exitOnFailedWrite(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  try {
    writeSync(2, `error: the output cannot be written: ${error.message}\n`);
  } finally {
    process.exit(1);
  }
}
