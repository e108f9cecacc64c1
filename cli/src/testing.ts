import pc from "picocolors";
import type { Terminal } from "./terminal.ts";

/** A terminal in memory: keeps what was said, and answers questions from a list. */
export class MemoryTerminal implements Terminal {
  said = "";
  noted = "";
  readonly colours = pc.createColors(false);
  readonly columns = 100;
  readonly isInteractive: boolean;
  readonly #answers: string[];

  constructor({ answers }: { readonly answers?: readonly string[] } = {}) {
    this.isInteractive = answers !== undefined;
    this.#answers = [...(answers ?? [])];
  }

  out(text: string): void {
    this.said += text;
  }

  outBytes(bytes: Uint8Array): void {
    this.said += new TextDecoder().decode(bytes);
  }

  note(text: string): void {
    this.noted += text;
  }

  ask(question: string): Promise<string> {
    this.out(question);
    return Promise.resolve(this.#answers.shift() ?? "");
  }
}
