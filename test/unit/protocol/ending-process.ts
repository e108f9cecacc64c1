import type { Actor, Choice } from "./scheduler.ts";

/** A process that works until it dies, or until it is asked to end and has given its work back. */
export class EndingProcess {
  readonly actor: Actor;
  readonly #drain = new AbortController();
  readonly #now = new AbortController();

  /** `work` ends soon after `drain` aborts, and at once after `now` aborts. */
  constructor(actor: Actor, work: (drain: AbortSignal, now: AbortSignal) => Promise<unknown>) {
    this.actor = actor;
    void work(this.#drain.signal, this.#now.signal)
      .catch(() => undefined)
      .finally(() => {
        actor.hasEnded = true;
      });
  }

  get takesWork(): boolean {
    const { isAlive, isCutOff } = this.actor;
    return isAlive && isCutOff !== true && !this.#drain.signal.aborted;
  }

  /** The ways in which it can be told to end. `matters`: whether an end makes a difference at this moment. */
  choices(matters: boolean): readonly Choice[] {
    const { actor } = this;
    if (actor.isCutOff === true) return [];
    if (this.takesWork) {
      const name = `${actor.name} is asked to end`;
      return matters ? [{ name, faults: 1, take: () => this.#tell(this.#drain, "asked") }] : [];
    }
    const isWaiting = actor.isAlive && actor.hasEnded !== true && !this.#now.signal.aborted;
    const name = `${actor.name} has to end at once`;
    return isWaiting ? [{ name, faults: 0, take: () => this.#tell(this.#now, "told") }] : [];
  }

  #tell(signal: AbortController, how: string): void {
    this.actor.learned += ` ${how} to end`;
    signal.abort(new DOMException("the process ends", "AbortError"));
  }
}
