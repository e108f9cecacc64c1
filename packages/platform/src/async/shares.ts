import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { Limiter } from "./limiter.ts";

export interface SharesOptions {
  /** How many at a time, over all. */
  readonly all: number;
  /** How many of them one tenant may have. */
  readonly each: number;
  /** How many more of one tenant may wait. */
  readonly waiting: number;
}

/** So many at a time, of which no tenant has more than its share, so that nobody waits for what another tenant does. */
export class Shares {
  readonly #options: SharesOptions;
  readonly #all: Limiter;
  readonly #tenants = new Map<string, { readonly own: Limiter; count: number }>();

  constructor(options: SharesOptions) {
    this.#options = options;
    this.#all = new Limiter(options.all);
  }

  /**
   * Resolves when it is one's turn, which lasts until what it gives is disposed. Rejects with the reason of `signal`, and with
   * a Failure of kind `unavailable` when too many of the tenant wait.
   */
  async take(tenant: string, signal: AbortSignal): Promise<Disposable> {
    const { each, waiting } = this.#options;
    const share = this.#tenants.get(tenant) ?? { own: new Limiter(each), count: 0 };
    if (share.count >= each + waiting) throw tooMany();
    this.#tenants.set(tenant, share);
    share.count++;
    using stack = new DisposableStack();
    stack.defer(() => {
      if (--share.count === 0) this.#tenants.delete(tenant);
    });
    stack.use(await share.own.take(signal));
    stack.use(await this.#all.take(signal));
    return stack.move();
  }
}

function tooMany(): Failure {
  const problem = "too many operations on files of this tenant wait; try again in a few seconds";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
