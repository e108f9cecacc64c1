import type { Screen } from "../../src/inbox/screen.ts";
import type { Terminal } from "../../src/terminal.ts";
import type { Style } from "../../src/style.ts";

/** Shows no colors. */
export const plainStyle: Style = (_, text) => text;

export interface MemoryTerminalOptions {
  readonly answers?: readonly string[];
  /** What `read` returns. */
  readonly input?: string;
}

/** A terminal in memory: records its output, and answers questions from a list, after which its input ends. */
export class MemoryTerminal implements Terminal {
  stdout = "";
  stderr = "";
  readonly style = plainStyle;
  readonly columns = 100;
  readonly isInteractive: boolean;
  readonly #answers: string[];
  readonly #input: string;

  constructor({ answers, input = "" }: MemoryTerminalOptions = {}) {
    this.#input = input;
    this.isInteractive = answers !== undefined;
    this.#answers = [...(answers ?? [])];
  }

  out(text: string): void {
    this.stdout += text;
  }

  outBytes(bytes: Uint8Array): void {
    this.stdout += new TextDecoder().decode(bytes);
  }

  note(text: string): void {
    this.stderr += text;
  }

  read(): Promise<string> {
    return Promise.resolve(this.#input);
  }

  ask(question: string): Promise<string | undefined> {
    this.out(question);
    return Promise.resolve(this.#answers.shift());
  }

  lend<T>(use: () => Promise<T>): Promise<T> {
    return use();
  }

  openScreen(): Screen {
    throw new Error("a terminal in memory has no screen");
  }
}
