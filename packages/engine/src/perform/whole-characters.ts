/** Moves a surrogate at the end of a part of a text to the next part, because the log would lose half a character. */
export class WholeCharacters {
  #held = "";

  /** Returns `part` with the surrogate that the part before ended with, and without the one that it ends with. */
  take(part: string): string {
    const text = this.#held + part;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#held = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}
