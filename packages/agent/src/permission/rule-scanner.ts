/** Thrown for a rule that cannot be parsed; says what is wrong, in a form that follows the text of the rule. */
export class RuleSyntaxError extends Error {
  override readonly name = "RuleSyntaxError";
}

/** Reads the text of a rule from left to right. */
export class RuleScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  isAt(token: string): boolean {
    return this.#text.startsWith(token, this.#at);
  }

  /** Reads the token if it comes next. */
  take(token: string): boolean {
    if (!this.isAt(token)) return false;
    this.#at += token.length;
    return true;
  }

  /** Reads characters as long as they match. */
  while(character: RegExp): string {
    const start = this.#at;
    while (!this.isAtEnd && character.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  skipSpaces(): void {
    this.while(/\s/);
  }

  remaining(): string {
    return this.#text.slice(this.#at);
  }

  /** Reads a text in double quotes. Of its escapes only `\"` is replaced: what the others mean depends on the operator. */
  quoted(): string {
    if (!this.take('"')) throw this.unexpected("a text in double quotes");
    return this.#until('"');
  }

  /** Reads a regular expression in slashes, with its flags. */
  regex(): { readonly source: string; readonly flags: string } {
    if (!this.take("/")) throw this.unexpected("a regular expression in slashes");
    const source = this.#until("/");
    if (source === "") throw new RuleSyntaxError("has an empty regular expression");
    const flags = this.while(/[a-z]/);
    if (flags !== "" && flags !== "i") {
      throw new RuleSyntaxError(`has the flag "${flags}"; the only flag is i`);
    }
    return { source, flags };
  }

  /** Returns an error that says what was expected at this place. */
  unexpected(expected: string): RuleSyntaxError {
    const found = this.isAtEnd ? "the end" : `"${this.#text.slice(this.#at, this.#at + 10)}"`;
    return new RuleSyntaxError(`has ${found} where ${expected} is expected`);
  }

  #until(end: string): string {
    let read = "";
    for (; !this.isAtEnd; this.#at++) {
      const character = this.#text[this.#at] ?? "";
      if (character === end) {
        this.#at++;
        return read;
      }
      if (character !== "\\") {
        read += character;
        continue;
      }
      const escaped = this.#text[++this.#at] ?? "";
      read += escaped === end ? end : `\\${escaped}`;
    }
    throw new RuleSyntaxError(`has no closing ${end}`);
  }
}
