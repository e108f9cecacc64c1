import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../../failure.ts";

/** The delay before a client repeats a request that did not fit. */
const retryAfterMs = 1_000;

/** Limits the bytes of requests that a server holds, in total and for each owner: half of the total. */
export class HeldBytes {
  readonly #maxBytes: number;
  readonly #ofOwner = new Map<string, number>();
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the account of one request. `owner` is called once the request holds its first bytes. */
  open(owner: () => string): RequestBytes {
    let name: string | undefined;
    let held = 0;
    return {
      add: (bytes) => {
        name ??= owner();
        this.#add(name, bytes);
        held += bytes;
      },
      release: () => {
        if (name !== undefined) this.#remove(name, held);
        held = 0;
      },
    };
  }

  #add(owner: string, bytes: number): void {
    const ofOwner = (this.#ofOwner.get(owner) ?? 0) + bytes;
    if (this.#total + bytes > this.#maxBytes || ofOwner > this.#maxBytes / 2) {
      const message = `the server holds too many bytes of unfinished requests; retry, or send fewer large requests at a time`;
      throw new Failure("exhausted", ErrorReason.TOO_LARGE, message, { retryAfterMs });
    }
    this.#total += bytes;
    this.#ofOwner.set(owner, ofOwner);
  }

  #remove(owner: string, bytes: number): void {
    const left = (this.#ofOwner.get(owner) ?? 0) - bytes;
    this.#total -= bytes;
    if (left > 0) this.#ofOwner.set(owner, left);
    else this.#ofOwner.delete(owner);
  }
}

/** The bytes that one request holds. */
export interface RequestBytes {
  /** Throws a Failure of kind `exhausted` if the server would hold too many bytes. */
  add(bytes: number): void;
  /** Releases all bytes of the request. */
  release(): void;
}
