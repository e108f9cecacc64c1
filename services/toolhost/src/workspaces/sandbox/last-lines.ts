const maxBytes = 400;
const maxLines = 3;
// Output that moves the cursor, rings, or changes colors: escape sequences first, then the remaining control characters.
// oxlint-disable-next-line no-control-regex
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\^_])/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]/g;

/** The end of what a command has written so far, in bounded memory, for people to read. */
export class LastLines {
  #bytes = Buffer.alloc(0);
  #total = 0;

  /** Total number of bytes written. */
  get total(): number {
    return this.#total;
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const kept = Buffer.concat([this.#bytes, bytes.subarray(-maxBytes)]);
    this.#bytes = kept.subarray(-maxBytes);
  }

  /** Returns the last lines that are not blank, as text of at most a few hundred bytes. */
  text(): string {
    let begin = 0;
    // Do not begin in the middle of a character.
    while (begin < 4 && isContinuation(this.#bytes[begin])) begin++;
    const text = new TextDecoder("utf-8", { fatal: false }).decode(this.#bytes.subarray(begin));
    const lines = text
      .replaceAll(escapes, "")
      // Of a line that is overwritten, such as a progress bar, only the last version counts.
      .split(/\r*\n/)
      .map((line) => line.split("\r").findLast((part) => part.trim() !== "") ?? "")
      .map((line) => line.replaceAll(controls, "").trimEnd())
      .filter((line) => line.trim() !== "");
    return lines.slice(-maxLines).join("\n");
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
