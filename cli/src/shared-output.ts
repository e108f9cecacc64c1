import { clearScreenDown, cursorTo } from "node:readline";
import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import type { ReadStream, WriteStream } from "node:tty";

/**
 * The output of a process on a terminal where it also asks questions. While a question is open, whole lines of output appear
 * above it; while another program has the terminal, output waits.
 */
export class SharedOutput {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  #question: Interface | undefined;
  #isLent = false;
  #waiting: { readonly stream: WriteStream; readonly text: string }[] = [];

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  write(stream: WriteStream, text: string): void {
    const isShared = stream.isTTY && (this.#isLent || this.#question !== undefined);
    if (!isShared) return void stream.write(text);
    this.#waiting.push({ stream, text });
    if (this.#question !== undefined && text.endsWith("\n")) this.#writeAbove(this.#question);
  }

  /** Asks a question of one line. Returns undefined if the person ends the input. Rejects when `signal` aborts. */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    const reader = createInterface({ input: this.#input, output: this.#output });
    this.#question = reader;
    const ended = Promise.withResolvers<undefined>();
    reader.once("close", () => ended.resolve(undefined));
    // On a terminal the reader takes Ctrl-C. The process then ends as it does without a question.
    reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    try {
      const answer = await Promise.race([reader.question(question, { signal }), ended.promise]);
      if (answer === undefined) this.#output.write("\n");
      return answer;
    } catch (error) {
      this.#clearLine();
      throw error;
    } finally {
      this.#question = undefined;
      reader.close();
      this.#writeWaiting();
    }
  }

  /** Gives the terminal to the program that `use` starts. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    try {
      return await use();
    } finally {
      this.#isLent = false;
      this.#writeWaiting();
    }
  }

  #writeAbove(question: Interface): void {
    // The lines of a long answer are not moved; the output appears after it.
    if (question.getCursorPos().rows > 0) return;
    this.#clearLine();
    this.#writeWaiting();
    question.prompt(true);
  }

  #clearLine(): void {
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
  }

  #writeWaiting(): void {
    for (const { stream, text } of this.#waiting.splice(0)) stream.write(text);
  }
}
