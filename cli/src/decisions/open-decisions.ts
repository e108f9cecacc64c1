import type { Approval, Client } from "@reeve/client";
import { ApprovalState, ReeveError } from "@reeve/client";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { isAborted } from "../abort.ts";
import { renderError } from "../render/error.ts";
import type { DecisionMode } from "./decide.ts";
import { decide } from "./decide.ts";
import type { DecisionContext } from "./decision-context.ts";

/**
 * The approvals of a run that nobody has decided yet. Asks about one after the other, each until somebody decides it, here or
 * elsewhere.
 */
export class OpenDecisions implements AsyncDisposable {
  readonly #context: DecisionContext;
  readonly #reeve: Client;
  readonly #mode: DecisionMode;
  readonly #open = new Map<string, AbortController>();
  /** Ids of the approvals that an option of the command has decided. */
  readonly #decided = new Set<string>();
  /** Whether the server has said that this user may not decide. */
  #isRefused = false;
  /** Settles after the last question. Two questions at once would share the lines that are typed. */
  #asked = Promise.resolve();

  constructor(context: DecisionContext, reeve: Client, mode: DecisionMode) {
    this.#context = context;
    this.#reeve = reeve;
    this.#mode = mode;
  }

  /** Takes a new state of an approval. Throws if a decision that nobody was asked for fails. */
  async update(approval: Approval): Promise<void> {
    const { approvalId, state } = approval;
    if (state !== ApprovalState.PENDING) {
      this.#open.get(approvalId)?.abort();
      this.#open.delete(approvalId);
    } else if (this.#mode === "ask") {
      // A list and the stream of events may both say that it is pending.
      if (this.#mayNot(approval) || this.#open.has(approvalId)) return;
      const withdrawn = new AbortController();
      this.#open.set(approvalId, withdrawn);
      this.#asked = this.#asked.then(() => this.#ask(approval, withdrawn.signal));
    } else if (!this.#decided.has(approvalId)) {
      // Advice, comments, and votes of others are further states of an approval that is pending.
      this.#decided.add(approvalId);
      await this.#decideByOption(approval, this.#mode);
    }
  }

  async #decideByOption(approval: Approval, mode: DecisionMode): Promise<void> {
    try {
      await decide(this.#context, this.#reeve, approval, mode, neverAborts);
    } catch (error) {
      // Somebody else was first, or it expired: the run continues, and later calls need decisions too.
      if (!(error instanceof ReeveError) || error.reason !== "APPROVAL_CLOSED") throw error;
      const { terminal } = this.#context;
      terminal.note(renderError(error, undefined, terminal.style));
    }
  }

  /** Resolves when no question is open. */
  async asked(): Promise<void> {
    await this.#asked;
  }

  async #ask(approval: Approval, withdrawn: AbortSignal): Promise<void> {
    const { terminal, signal } = this.#context;
    const until = AbortSignal.any([signal, withdrawn]);
    try {
      if (this.#mayNot(approval) || isAborted(until) || (await this.#isClosed(approval, until)))
        return;
      await decide(this.#context, this.#reeve, approval, "ask", withdrawn);
    } catch (error) {
      if (isAborted(until)) return;
      terminal.note(renderError(error, undefined, terminal.style));
      if (!(error instanceof ReeveError) || error.reason !== "PERMISSION_DENIED") return;
      this.#isRefused = true;
      terminal.note("a person with the role approver has to decide; the run waits for them\n");
    } finally {
      this.#open.delete(approval.approvalId);
    }
  }

  /** Who asked for a run answers the questions of its agent without the role that decisions need. */
  #mayNot(approval: Approval): boolean {
    return this.#isRefused && !isAgentQuestion(approval);
  }

  /** Whether the event that requested the approval is old, and somebody has decided it since. */
  async #isClosed({ approvalId, runId }: Approval, signal: AbortSignal): Promise<boolean> {
    for await (const each of this.#reeve.listApprovals({ runId, includeClosed: true, signal })) {
      if (each.approvalId === approvalId) return each.state !== ApprovalState.PENDING;
    }
    return false;
  }

  /** Asks nobody any more, and resolves when the decisions that were sent are answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
    await this.#asked;
  }
}
