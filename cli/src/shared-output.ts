import { closeSync, constants, openSync, readSync } from "node:fs";
import { clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import type { ReadStream, WriteStream } from "node:tty";
import { abortable } from "@reeve/platform/async/abortable";

/** Nothing was typed; the process has no terminal; the terminal is gone. */
const nothingToRead: ReadonlySet<unknown> = new Set(["EAGAIN", "ENXIO", "ENOENT", "EIO"]);

function ignore(): void {
  return undefined;
}

/** Reads what a terminal has, without waiting for more. A process without a terminal has nothing to discard. */
function discardAvailable(path: string): void {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const buffer = Buffer.alloc(4_096);
    while (readSync(file, buffer) > 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!nothingToRead.has(code)) throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

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

  /**
   * Asks a question of one line. What was typed before the question was shown does not answer it. Returns undefined if the person ends the
   * input. Rejects with the signal's reason when `signal` aborts, and removes the question.
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    this.#discardTyped();
    const reader = createInterface({ input: this.#input, output: this.#output });
    this.#question = reader;
    const ended = Promise.withResolvers<undefined>();
    reader.once("close", () => ended.resolve(undefined));
    // On a terminal the reader takes Ctrl-C. The process then ends as it does without a question.
    reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    try {
      // With the signal, the reader would end the line of the question, which would then stay on the screen.
      const answered = Promise.race([reader.question(question), ended.promise]);
      const answer = await abortable(answered, signal);
      if (answer === undefined) this.#output.write("\n");
      return answer;
    } catch (error) {
      moveCursor(this.#output, 0, -reader.getCursorPos().rows);
      this.#clearLine();
      throw error;
    } finally {
      this.#question = undefined;
      reader.close();
      this.#writeWaiting();
    }
  }

  /** Gives the terminal to the program that `use` starts. Ctrl-C is meant for that program, and does not end this process. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    const listeners = process.listeners("SIGINT");
    process.on("SIGINT", ignore);
    for (const listener of listeners) process.off("SIGINT", listener);
    try {
      return await use();
    } finally {
      for (const listener of listeners) process.on("SIGINT", listener);
      process.off("SIGINT", ignore);
      this.#isLent = false;
      this.#writeWaiting();
    }
  }

  /** Discards what was typed and not read. */
  #discardTyped(): void {
    while (this.#input.read() !== null);
    if (!this.#input.isTTY) return;
    // Without raw mode, a line that is not finished cannot be read.
    this.#input.setRawMode(true);
    try {
      discardAvailable("/dev/tty");
    } finally {
      this.#input.setRawMode(false);
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
