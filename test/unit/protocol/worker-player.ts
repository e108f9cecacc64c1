import type { Dispatch } from "@reeve/contracts/run";
import { workRuns } from "@reeve/engine/drive/work-runs";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Actor, Choice } from "./scheduler.ts";

const concurrency = 4;

/** A worker that takes runs until it dies, or until it is asked to end and has released them. */
export class WorkerPlayer {
  readonly actor: Actor;
  readonly #drain = new AbortController();
  readonly #now = new AbortController();
  #hasEnded = false;

  constructor(actor: Actor, dispatch: Pick<WorkQueue<Dispatch>, "take">, ports: RunPorts) {
    this.actor = actor;
    const stop = { now: this.#now.signal, drain: this.#drain.signal };
    void workRuns(dispatch, ports, concurrency, stop)
      .catch(() => undefined)
      .finally(() => {
        this.#hasEnded = true;
      });
  }

  get takesRuns(): boolean {
    return this.actor.isAlive && !this.#drain.signal.aborted;
  }

  /** The ways in which it can be told to end. `matters`: whether an end makes a difference at this moment. */
  choices(matters: boolean): readonly Choice[] {
    const { actor } = this;
    if (this.takesRuns) {
      const name = `${actor.name} is asked to end`;
      return matters ? [{ name, faults: 1, take: () => this.#tell(this.#drain, "asked") }] : [];
    }
    const isWaiting = actor.isAlive && !this.#hasEnded && !this.#now.signal.aborted;
    const name = `${actor.name} has to end at once`;
    return isWaiting ? [{ name, faults: 0, take: () => this.#tell(this.#now, "told") }] : [];
  }

  #tell(signal: AbortController, how: string): void {
    this.actor.learned += ` ${how} to end`;
    signal.abort(new DOMException("the worker ends", "AbortError"));
  }
}
