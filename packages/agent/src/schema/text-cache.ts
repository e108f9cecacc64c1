/** Values by text, bounded by the characters of all texts together. A text that does not fit alone is not kept. */
export class TextCache<Value> {
  readonly #maxCharacters: number;
  readonly #values = new Map<string, Value>();
  #characters = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get(text: string): Value | undefined {
    return this.#values.get(text);
  }

  /** Keeps a value, and forgets the oldest ones until there is room. */
  set(text: string, value: Value): void {
    this.#forget(text);
    if (text.length > this.#maxCharacters) return;
    for (const oldest of this.#values.keys()) {
      if (this.#characters + text.length <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
    this.#values.set(text, value);
    this.#characters += text.length;
  }

  #forget(text: string): void {
    if (this.#values.delete(text)) this.#characters -= text.length;
  }
}
