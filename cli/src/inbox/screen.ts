import { writeSync } from "node:fs";
import process from "node:process";
import { emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { plainText } from "../render/plain-text.ts";
import type { Style } from "../style.ts";
import type { ScreenSize } from "./frame.ts";
import type { Key } from "./key.ts";
import type { ScreenLine } from "./screen-line.ts";

/** What a screen reports: a key, a pasted text in one line, a change of its size, or that its input has ended. */
export type ScreenEvent =
  | { readonly kind: "key"; readonly key: Key }
  | { readonly kind: "pasted"; readonly text: string }
  | { readonly kind: "resized" }
  | { readonly kind: "ended" };

/** A whole terminal. Disposing it shows again what was there before. */
export interface Screen extends Disposable {
  readonly size: ScreenSize;
  draw(lines: readonly ScreenLine[]): void;
  /** Gives the terminal to the program that `use` starts. If the screen is disposed meanwhile, it does not take it again. */
  lend<T>(use: () => Promise<T>): Promise<T>;
}

/**
 * The other buffer of the terminal, which has no history; the cursor is hidden, and long lines are not continued. The terminal marks
 * pastes: their characters would otherwise be keys, and their line breaks would decide.
 */
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h";
const leave = "\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";

/** A key as `node:readline` reports it. */
interface Keypress {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/**
 * Takes a terminal as a whole. It is as before when the screen is disposed, and when the process exits without that: after an error,
 * or at the second signal.
 */
export class TerminalScreen implements Screen {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #style: Style;
  readonly #report: (event: ScreenEvent) => void;
  #isTaken = false;
  #isDisposed = false;
  /** What was pasted so far, while a paste arrives. */
  #paste: string | undefined;

  constructor(
    { input, output, style }: { input: ReadStream; output: WriteStream; style: Style },
    report: (event: ScreenEvent) => void,
  ) {
    this.#input = input;
    this.#output = output;
    this.#style = style;
    this.#report = report;
    emitKeypressEvents(input);
    process.on("exit", this.#restore);
    this.#take();
  }

  get size(): ScreenSize {
    // A terminal that does not know its size says 0.
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  draw(lines: readonly ScreenLine[]): void {
    if (!this.#isTaken) return;
    const shown = lines.map(({ text, look }) => {
      // Whatever the text is: it moves no cursor.
      const safe = plainText(text).replaceAll(/[\n\t]/g, " ");
      if (look === undefined) return safe;
      return look === "inverse" ? `\u001b[7m${safe}\u001b[27m` : this.#style(look, safe);
    });
    this.#output.write(`\u001b[H${shown.join("\u001b[K\r\n")}\u001b[K\u001b[J`);
  }

  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.#release();
    try {
      return await use();
    } finally {
      this.#take();
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#release();
    process.off("exit", this.#restore);
  }

  #take(): void {
    // A screen may be disposed while an editor has the terminal: nobody would give it back then.
    if (this.#isDisposed) return;
    this.#isTaken = true;
    this.#input.setRawMode(true);
    this.#input.on("keypress", this.#onKeypress);
    this.#input.once("end", this.#onEnd);
    this.#output.on("resize", this.#onResize);
    this.#input.resume();
    this.#output.write(enter);
  }

  #release(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#paste = undefined;
    this.#input.off("keypress", this.#onKeypress);
    this.#input.off("end", this.#onEnd);
    this.#output.off("resize", this.#onResize);
    this.#input.pause();
    this.#input.setRawMode(false);
    this.#output.write(leave);
  }

  readonly #onKeypress = (text: string | undefined, key: Keypress): void => {
    const { name } = key;
    if (name === "paste-start") this.#paste ??= "";
    else if (this.#paste !== undefined) this.#onPasted(text, name);
    else this.#onKey(text, key);
  };

  /** Nothing that is pasted is a key, whatever the text is. */
  #onPasted(text: string | undefined, name: string | undefined): void {
    if (name !== "paste-end") {
      // Keys that type nothing, such as arrows, are no text.
      this.#paste += text === undefined || text.startsWith("\u001b") ? "" : text;
      return;
    }
    const line = plainText((this.#paste ?? "").replaceAll(/[\r\n\t]+/g, " "));
    this.#paste = undefined;
    this.#report({ kind: "pasted", text: line });
  }

  #onKey(text: string | undefined, { name, ctrl, meta }: Keypress): void {
    const typed = plainText(ctrl === true || meta === true ? "" : (text ?? ""));
    // Keys without text are sequences that begin with escape, of which `plainText` leaves the rest.
    const isText = text !== undefined && !text.startsWith("\u001b");
    const key = {
      name: name ?? "",
      text: isText ? typed.replaceAll(/[\n\t]/g, "") : "",
      isControl: ctrl === true,
    };
    this.#report({ kind: "key", key });
  }

  readonly #onEnd = (): void => this.#report({ kind: "ended" });

  readonly #onResize = (): void => this.#report({ kind: "resized" });

  /** Nothing that waits is written when a process exits. */
  readonly #restore = (): void => {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    try {
      this.#input.setRawMode(false);
      writeSync(process.stdout.fd, leave);
    } catch {
      // The terminal is gone.
    }
  };
}
