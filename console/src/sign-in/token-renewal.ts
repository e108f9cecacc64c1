import type { SignedIn } from "./oidc.ts";

/** How long before its end a token is renewed. */
const earlyMs = 60_000;
const minDelayMs = 10_000;
/** Timers of browsers run at once if they are set for longer. */
const maxDelayMs = 2 ** 31 - 1;
const firstRetryMs = 5_000;

interface RenewalPorts {
  readonly renew: (refreshToken: string) => Promise<SignedIn>;
  /** Replaces the token of the session. Returns false if it has another one by now. */
  readonly replace: (before: string, next: string) => boolean;
  /** Whether the provider refuses to renew the sign-in: another attempt gets the same answer. */
  readonly isFinal: (thrown: unknown) => boolean;
  readonly schedule: (callback: () => void, delayMs: number) => void;
  readonly nowMs: () => number;
}

/** Renews the token of a session before it expires, and again until then if that fails; never twice at the same time. */
export class TokenRenewal {
  readonly #ports: RenewalPorts;
  #current: SignedIn;
  #expiresAtMs = 0;
  #isOver = false;
  /** The last renewal that did not fail: requests that began before it ask for its token. */
  #last: { readonly before: string; readonly next: Promise<string | undefined> } | undefined;

  constructor(ports: RenewalPorts, signedIn: SignedIn) {
    this.#ports = ports;
    this.#current = signedIn;
    this.#plan();
  }

  /** Returns the token that replaces `before`. Undefined: it cannot be renewed now. */
  readonly renewed = (before: string): Promise<string | undefined> => {
    if (this.#last?.before === before) return this.#last.next;
    const { accessToken, refreshToken } = this.#current;
    if (this.#isOver || refreshToken === undefined || before !== accessToken) {
      return Promise.resolve(undefined);
    }
    const next = this.#renew(before, refreshToken);
    this.#last = { before, next };
    return next;
  };

  async #renew(before: string, refreshToken: string): Promise<string | undefined> {
    const { renew, replace, isFinal } = this.#ports;
    try {
      const renewed = await renew(refreshToken);
      if (!replace(before, renewed.accessToken)) {
        this.#isOver = true;
        return undefined;
      }
      this.#current = renewed;
      this.#plan();
      return renewed.accessToken;
    } catch (thrown) {
      // The session ends when its token does, and the page says so.
      this.#isOver = isFinal(thrown);
      this.#last = undefined;
      return undefined;
    }
  }

  #plan(): void {
    const { accessToken, refreshToken, expiresInMs } = this.#current;
    if (refreshToken === undefined || expiresInMs === undefined) return;
    this.#expiresAtMs = this.#ports.nowMs() + expiresInMs;
    this.#renewIn(Math.max(minDelayMs, expiresInMs - earlyMs), accessToken, firstRetryMs);
  }

  #renewIn(delayMs: number, token: string, retryMs: number): void {
    const { schedule, nowMs } = this.#ports;
    const attempt = async () => {
      if (this.#isOver || this.#current.accessToken !== token) return;
      if ((await this.renewed(token)) !== undefined || this.#isOver) return;
      if (nowMs() + retryMs < this.#expiresAtMs) this.#renewIn(retryMs, token, retryMs * 2);
    };
    schedule(() => void attempt(), Math.min(delayMs, maxDelayMs));
  }
}
