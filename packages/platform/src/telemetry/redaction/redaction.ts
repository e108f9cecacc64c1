import { secretForms } from "./secret-forms.ts";
import type { Range } from "./secret-scanner.ts";
import { SecretScanner } from "./secret-scanner.ts";
import { SteadyRedactedStream } from "./steady-stream.ts";

/** How many secrets are recognized besides those that are kept. The one that was used the longest time ago is forgotten first. */
const maxSecrets = 1_000;
const replacement = "[redacted]";

/** Replaces secrets in texts and bytes. The second line of defense: a secret should not be in them in the first place. */
export class Redaction {
  readonly #forms = new Map<string, readonly string[]>();
  readonly #kept = new Map<string, readonly string[]>();
  #scanner = new SecretScanner([]);
  #isCurrent = true;

  /** Recognizes a secret from now on. */
  add(secret: string): void {
    const known = this.#forms.get(secret);
    const forms = known ?? secretForms(secret);
    if (forms.length === 0) return;
    this.#forms.delete(secret);
    this.#forms.set(secret, forms);
    if (known !== undefined) return;
    for (const oldest of this.#forms.keys()) {
      if (this.#forms.size <= maxSecrets) break;
      this.#forms.delete(oldest);
    }
    this.#isCurrent = false;
  }

  /** Recognizes a secret of the settings from now on, no matter how many others are used after it. */
  keep(secret: string): void {
    if (this.#kept.has(secret)) return;
    const forms = secretForms(secret);
    if (forms.length === 0) return;
    this.#kept.set(secret, forms);
    this.#isCurrent = false;
  }

  /** Returns a text without secrets. */
  text(text: string): string {
    return withoutRanges(text, this.#current().find(text));
  }

  /** Returns bytes without secrets, the same object if there are none. */
  bytes(bytes: Uint8Array): Uint8Array {
    // One character for each byte, so that all other bytes stay as they are.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const redacted = this.text(text);
    return redacted === text ? bytes : Buffer.from(redacted, "latin1");
  }

  /** Returns a copy of a JSON value without secrets, in its keys as well. Other values stay as they are. */
  json<Value>(value: Value): Value {
    // The copy has the shape of the value.
    if (typeof value === "string") return this.text(value) as Value;
    if (Array.isArray(value)) return value.map((each: unknown) => this.json(each)) as Value;
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, each]: [string, unknown]) => [
      this.text(key),
      this.json(each),
    ]);
    return Object.fromEntries(entries) as Value;
  }

  /** Starts to redact a stream, also secrets that are cut by the borders of its chunks. */
  stream(): RedactedStream {
    return new RedactedStream(() => this.#current());
  }

  /** Starts to redact a stream for a reader who may guess: what it holds back says nothing about secrets that it has now. */
  steadyStream(): SteadyRedactedStream {
    return new SteadyRedactedStream(this.#current(), withoutRanges);
  }

  #current(): SecretScanner {
    if (!this.#isCurrent) {
      const forms = [...this.#kept.values(), ...this.#forms.values()];
      this.#scanner = new SecretScanner(forms.flat());
      this.#isCurrent = true;
    }
    return this.#scanner;
  }
}

/** Redacts a stream of text, or of bytes as one character each. Keeps back only what may be the beginning of a secret. */
export class RedactedStream {
  readonly #scanner: () => SecretScanner;
  #rest = "";

  constructor(scanner: () => SecretScanner) {
    this.#scanner = scanner;
  }

  /** Returns what can be passed on after another chunk. */
  push(chunk: string): string {
    const text = this.#rest + chunk;
    const scanner = this.#scanner();
    const ranges = scanner.find(text);
    const open = text.length - scanner.openEnd(text);
    // Another secret may begin inside of one that is complete.
    const border = ranges.find(({ from, to }) => from < open && open < to)?.from ?? open;
    this.#rest = text.slice(border);
    return withoutRanges(
      text.slice(0, border),
      ranges.filter(({ to }) => to <= border),
    );
  }

  /** Returns the rest at the end of the stream. */
  end(): string {
    const text = this.#rest;
    this.#rest = "";
    return withoutRanges(text, this.#scanner().find(text));
  }
}

/**
 * The secrets that this process has used. There is one for the process because its log and its spans are shared by all its
 * parts.
 */
export const processRedaction = new Redaction();

function withoutRanges(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  let end = 0;
  const parts: string[] = [];
  for (const { from, to } of ranges) {
    parts.push(text.slice(end, from), replacement);
    end = to;
  }
  return parts.join("") + text.slice(end);
}
