import type { KvEntry } from "@nats-io/kv";

/**
 * How many times a watch checks whether more was written meanwhile. Each check follows a read of everything that the one before
 * saw. Without a limit, steady writers could keep a watch from being current.
 */
const maxChecks = 10;

/** Tells when a watch of a bucket has yielded everything that existed when it began. */
export class CatchUp {
  readonly #lastRevision: () => Promise<number>;
  #end: number;
  #checks = 0;

  /** `end` is the last revision at the start. `lastRevision` asks the leader for the present one; 0 stands for none. */
  constructor(end: number, lastRevision: () => Promise<number>) {
    this.#end = end;
    this.#lastRevision = lastRevision;
  }

  /** Returns whether everything was yielded with this entry. Takes each entry of the watch, in order. */
  async isDoneWith({ revision, delta }: Pick<KvEntry, "revision" | "delta">): Promise<boolean> {
    if (revision < this.#end) return await this.#hasLostEnd(revision, delta);
    // Neither the first end nor the count of the server decides. The watch skips a value that was replaced meanwhile, and the
    // server may count that value although it never sends it, and not yet count the one that replaced it. So compare with the
    // last revision again, until it has not changed.
    this.#end = await this.#lastRevision();
    return revision >= this.#end || ++this.#checks === maxChecks;
  }

  /**
   * Whether the first end was removed, and nothing follows this entry. Never moves the end: writers that are faster than the
   * answers of the leader would keep it ahead of every entry.
   */
  async #hasLostEnd(revision: number, delta: number | undefined): Promise<boolean> {
    if (delta !== 0 || this.#checks > 0) return false;
    return revision >= (await this.#lastRevision());
  }
}
