import type { Approval, Client } from "@reeve/client";
import { ApprovalState } from "@reeve/client";
import type { Context } from "../context.ts";
import { renderError } from "../render/error.ts";
import type { DecisionMode } from "./decide.ts";
import { decide } from "./decide.ts";

/** The approvals of a run that nobody has decided yet. Asks about each, until somebody decides it, here or elsewhere. */
export class OpenDecisions implements Disposable {
  readonly #context: Pick<Context, "terminal" | "signal">;
  readonly #reeve: Client;
  readonly #mode: DecisionMode;
  readonly #open = new Map<string, AbortController>();

  constructor(context: Pick<Context, "terminal" | "signal">, reeve: Client, mode: DecisionMode) {
    this.#context = context;
    this.#reeve = reeve;
    this.#mode = mode;
  }

  /** Takes a new state of an approval. Throws if a decision that nobody was asked for fails. */
  async update(approval: Approval): Promise<void> {
    if (approval.state !== ApprovalState.PENDING) this.#open.get(approval.approvalId)?.abort();
    else if (this.#mode === "ask") void this.#ask(approval);
    else await decide(this.#context, this.#reeve, approval, this.#mode);
  }

  async #ask(approval: Approval): Promise<void> {
    const { terminal, signal } = this.#context;
    const withdrawn = new AbortController();
    this.#open.set(approval.approvalId, withdrawn);
    const until = AbortSignal.any([signal, withdrawn.signal]);
    try {
      await decide({ terminal, signal: until }, this.#reeve, approval, this.#mode);
    } catch (error) {
      if (!until.aborted) terminal.note(renderError(error, undefined, terminal.style));
      else terminal.out("\n");
    } finally {
      this.#open.delete(approval.approvalId);
    }
  }

  [Symbol.dispose](): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }
}
