import type { Losses } from "@reeve/calls/ports/losses";
import { lossesOf, withTold } from "./workspace-record.ts";
import type { Sandbox, SandboxCommand } from "@reeve/sandbox/port";
import type { OpenWorkspace, WantedWorkspace } from "@reeve/calls/ports/workspaces";
import type { HeldWorkspace } from "./held-workspace.ts";

const never = new AbortController().signal;

/** A workspace that lies here, in use by one call until it is disposed; `onEnd` hears of that. */
export class UsedWorkspace implements OpenWorkspace {
  readonly sandbox: Sandbox;
  readonly losses: Losses | undefined;
  readonly #held: HeldWorkspace;
  readonly #wanted: WantedWorkspace;
  readonly #onEnd: () => void;
  #begun: Promise<number> | undefined;
  #isTold = false;
  revision = 0;

  constructor(held: HeldWorkspace, wanted: WantedWorkspace, sandbox: Sandbox, onEnd: () => void) {
    this.#held = held;
    this.#wanted = wanted;
    this.#onEnd = onEnd;
    this.sandbox = {
      isolation: sandbox.isolation,
      exec: (command, signal) => this.#exec(sandbox, command, signal),
    };
    const losses = wanted.callId === "" || held.isTelling ? undefined : lossesOf(held.record);
    held.isTelling ||= losses !== undefined;
    this.losses = losses;
  }

  told(): void {
    this.#isTold = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nobody waits for it: whatever is told twice because this fails was at least told.
    if (this.losses !== undefined) void this.#closeLosses(this.losses);
    // Until then nobody would know that there is something to save.
    await this.#begun?.catch(() => undefined);
    this.#onEnd();
  }

  async #closeLosses(losses: Losses): Promise<void> {
    try {
      if (this.#isTold) await this.#held.change((record) => withTold(record, losses), never);
    } catch {
      // The next call tells them again.
    } finally {
      this.#held.isTelling = false;
    }
  }

  async *#exec(sandbox: Sandbox, command: SandboxCommand, signal: AbortSignal) {
    // Written beside the command, which takes longer, and before anybody knows of its end.
    const begun = command.readOnly === true ? undefined : this.#begin(signal);
    begun?.catch(() => undefined);
    for await (const event of sandbox.exec(command, signal)) {
      if (event.kind === "end" && begun !== undefined && !signal.aborted) {
        this.revision = await begun;
      }
      yield event;
    }
  }

  #begin(signal: AbortSignal): Promise<number> {
    this.#begun ??= this.#held.begin(this.#wanted, signal);
    return this.#begun;
  }
}
