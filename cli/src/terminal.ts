import { createInterface } from "node:readline/promises";
import process from "node:process";
import pc from "picocolors";

/** Colours, or functions that change nothing. */
export type Colours = ReturnType<typeof pc.createColors>;

/** Where a command speaks. */
export interface Terminal {
  /** Results: what another program may read. */
  out(text: string): void;
  outBytes(bytes: Uint8Array): void;
  /** Words to people about what is going on. */
  note(text: string): void;
  readonly colours: Colours;
  /** Whether a person sits in front of it and can be asked. */
  readonly isInteractive: boolean;
  /** Width in characters. */
  readonly columns: number;
  /** Asks a person. Rejects with the signal's reason when it aborts. */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

/** The terminal of this process. A reader that goes away, as `head` does, ends the process without a word. */
export function processTerminal(environment: NodeJS.ProcessEnv): Terminal {
  process.stdout.on("error", endQuietly);
  process.stderr.on("error", endQuietly);
  const wantsColour = process.stdout.isTTY && !("NO_COLOR" in environment);
  return {
    out: (text) => void process.stdout.write(text),
    outBytes: (bytes) => void process.stdout.write(bytes),
    note: (text) => void process.stderr.write(text),
    colours: pc.createColors(wantsColour || "FORCE_COLOR" in environment),
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    columns: process.stdout.columns ?? 100,
    ask: async (question, signal) => {
      const reader = createInterface({ input: process.stdin, output: process.stdout });
      try {
        return await reader.question(question, { signal });
      } finally {
        reader.close();
      }
    },
  };
}

function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}
