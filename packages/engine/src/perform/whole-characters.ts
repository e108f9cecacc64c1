/** Puts a text that comes in parts together again, so that no part ends within a character: a log would lose both halves. */
export class WholeCharacters {
  #held = "";

  /** What of the text up to now can be shown, and was not yet. */
  take(part: string): string {
    const text = this.#held + part;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#held = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}
