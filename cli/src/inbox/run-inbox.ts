import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@reeve/client";
import { ApprovalState, GrantScope } from "@reeve/client";
import type { ApprovalFilterSchema } from "@reeve/contracts/approval";
import { onAbort } from "@reeve/platform/async/on-abort";
import { sleep } from "@reeve/platform/async/sleep";
import { TaskSet } from "@reeve/platform/async/task-set";
import { isAborted } from "../abort.ts";
import type { DecisionContext } from "../decisions/decision-context.ts";
import { editorOf, editText } from "../decisions/edit-text.ts";
import { parseJsonObject } from "../parse-json-object.ts";
import { plainText } from "../render/plain-text.ts";
import { wholeJson } from "../render/whole-json.ts";
import type { Terminal } from "../terminal.ts";
import { frameOf } from "./frame.ts";
import type { KnownTool } from "./grant-lines.ts";
import type { InboxState } from "./inbox-state.ts";
import { emptyInbox } from "./inbox-state.ts";
import type { Screen } from "./screen.ts";
import type { InboxEffect, InboxEvent } from "./update-inbox.ts";
import { updateInbox } from "./update-inbox.ts";

/** Which approvals the inbox shows. */
export interface ShownApprovals {
  readonly runId: string;
  readonly filter: MessageInitShape<typeof ApprovalFilterSchema>;
}

/** How long after a change the screen is drawn, so that many changes are drawn once. */
const drawDelayMs = 30;
/** How often ages are drawn again, and how long after a lost connection the inbox is read again. */
const refreshMs = 5_000;
const retryMs = 1_000;

/** Shows the inbox on the whole terminal, and decides as the person says, until the person quits or `signal` of the context aborts. */
export async function runInbox(
  context: DecisionContext & { readonly terminal: Pick<Terminal, "openScreen"> },
  reeve: Client,
  shown: ShownApprovals,
): Promise<void> {
  using inbox = new FullScreenInbox(context, reeve, shown);
  await inbox.ended();
  context.signal.throwIfAborted();
}

class FullScreenInbox implements Disposable {
  readonly #context: DecisionContext;
  readonly #reeve: Client;
  readonly #shown: ShownApprovals;
  readonly #screen: Screen;
  readonly #end = Promise.withResolvers<void>();
  readonly #tasks = new TaskSet();
  readonly #refresh: NodeJS.Timeout;
  readonly #aborted: Disposable;
  #state: InboxState;
  #tools: ReadonlyMap<string, KnownTool> = new Map();
  #watch = new AbortController();
  #similarOf: string | undefined;
  #drawing: NodeJS.Timeout | undefined;

  constructor(
    context: DecisionContext & { readonly terminal: Pick<Terminal, "openScreen"> },
    reeve: Client,
    shown: ShownApprovals,
  ) {
    this.#context = context;
    this.#reeve = reeve;
    this.#shown = shown;
    const { text = "", forMe = false } = shown.filter;
    this.#state = emptyInbox({ text, isMine: forMe });
    this.#screen = context.terminal.openScreen((event) => {
      if (event.kind === "ended") this.#end.resolve();
      else this.#handle(event);
    });
    this.#refresh = setInterval(() => this.#drawSoon(), refreshMs);
    this.#aborted = onAbort(context.signal, () => {
      // At once: the screen must not take the terminal again when the editor ends.
      this.#screen[Symbol.dispose]();
      this.#end.resolve();
    });
    void this.#readTools();
    this.#startWatch({ text, isMine: forMe });
    this.#draw();
  }

  /** Resolves when the person has quit, the decisions that were sent are answered, and the editor has ended. */
  async ended(): Promise<void> {
    await this.#end.promise;
    this.#watch.abort();
    await this.#tasks.settled();
  }

  [Symbol.dispose](): void {
    this.#watch.abort();
    this.#aborted[Symbol.dispose]();
    clearInterval(this.#refresh);
    clearTimeout(this.#drawing);
    this.#screen[Symbol.dispose]();
  }

  #handle(event: InboxEvent): void {
    const { state, effect } = updateInbox(this.#state, event);
    this.#state = state;
    if (effect !== undefined) this.#perform(effect);
    void this.#readSimilar(state.selectedId);
    if (event.kind === "approval") this.#drawSoon();
    else this.#draw();
  }

  #perform(effect: InboxEffect): void {
    switch (effect.kind) {
      case "quit":
        return this.#end.resolve();
      case "watch":
        return this.#startWatch(effect);
      case "edit":
        return void this.#tasks.add(this.#edit(effect));
      case "comment":
        return void this.#tasks.add(this.#comment(effect));
      case "decide":
        return void this.#tasks.add(this.#decide(effect));
    }
  }

  #drawSoon(): void {
    this.#drawing ??= setTimeout(() => this.#draw(), drawDelayMs);
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    const options = { ...this.#screen.size, nowMs: Date.now(), tools: this.#tools };
    const { lines, scroll } = frameOf(this.#state, options);
    this.#state = { ...this.#state, scroll };
    this.#screen.draw(lines);
  }

  #startWatch(filter: { readonly text: string; readonly isMine: boolean }): void {
    this.#watch.abort();
    this.#watch = new AbortController();
    const signal = AbortSignal.any([this.#watch.signal, this.#context.signal]);
    void this.#follow(filter, signal);
  }

  /**
   * Follows the approvals that match. After a lost connection, continues with what has changed since; after a longer one, begins again with
   * what waits then.
   */
  async #follow(
    { text, isMine }: { readonly text: string; readonly isMine: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { runId, filter } = this.#shown;
    const wanted = { ...filter, states: [ApprovalState.PENDING], text, forMe: isMine };
    while (!isAborted(signal)) {
      try {
        const approvals = this.#reeve.watchApprovals({
          runId,
          filter: wanted,
          signal,
          onConnected: (isAnew) => {
            if (!isAborted(signal)) this.#handle({ kind: "connected", isAnew });
          },
          onConnectionLost: ({ message }) => this.#lost(message),
        });
        for await (const approval of approvals) {
          if (isAborted(signal)) return;
          this.#handle({ kind: "approval", approval });
        }
      } catch (error) {
        if (isAborted(signal)) return;
        this.#lost(messageOf(error));
      }
      await sleep(retryMs, signal).catch(() => undefined);
    }
  }

  #lost(message: string): void {
    this.#handle({ kind: "lost", message: `${message}; trying again` });
  }

  async #decide({
    approval,
    approved,
    reason,
    editedArguments,
    rule,
  }: Extract<InboxEffect, { readonly kind: "decide" }>): Promise<void> {
    const { approvalId, callDigest } = approval;
    const decision = {
      approvalId,
      // It binds the decision to the call that the person saw.
      callDigest,
      approved,
      reason,
      ...(editedArguments && { editedArguments }),
      ...(rule !== undefined && { grant: { scope: GrantScope.RUN, rule } }),
    };
    try {
      // Not the signal: the person may quit before the answer.
      const decided = await this.#reeve.decide(decision);
      this.#handle({ kind: "approval", approval: decided });
      const isOpen = decided.state === ApprovalState.PENDING;
      if (isOpen) this.#handle({ kind: "voted", approvalId });
      const what = approved ? "approved" : "rejected";
      this.#handle({ kind: "said", message: isOpen ? `your vote: ${what}` : what });
    } catch (error) {
      this.#handle({ kind: "said", message: messageOf(error) });
    }
  }

  async #comment({
    approvalId,
    text,
  }: Extract<InboxEffect, { readonly kind: "comment" }>): Promise<void> {
    try {
      const approval = await this.#reeve.approvals.comment(approvalId, text);
      this.#handle({ kind: "approval", approval });
    } catch (error) {
      this.#handle({ kind: "said", message: messageOf(error) });
    }
  }

  /** Reads how people decided similar calls, once for each approval that is selected. */
  async #readSimilar(approvalId: string | undefined): Promise<void> {
    if (approvalId === undefined || approvalId === this.#similarOf) return;
    this.#similarOf = approvalId;
    try {
      const decisions = await this.#reeve.approvals.similar(approvalId, this.#context);
      this.#handle({ kind: "similar", approvalId, decisions });
    } catch {
      // It is no part of the decision.
    }
  }

  async #edit({ approval, value }: Extract<InboxEffect, { readonly kind: "edit" }>): Promise<void> {
    const { environment, signal } = this.#context;
    const { approvalId } = approval;
    const editor = editorOf(environment);
    const said = (message: string) => this.#handle({ kind: "said", message });
    if (editor === undefined) return said("there is no editor: set EDITOR");
    try {
      const before = `${wholeJson(value)}\n`;
      const text = await this.#screen.lend(() => editText(before, editor, signal));
      const edited = parseJsonObject(text);
      if (text === before) said("nothing is changed");
      else if (edited === undefined) said("that is not a JSON object; nothing is changed");
      else this.#handle({ kind: "edited", approvalId, value: edited });
    } catch (error) {
      said(messageOf(error));
    }
  }

  /** What tools may do, and which arguments they take, is shown when it is known. */
  async #readTools(): Promise<void> {
    try {
      const tools = await this.#reeve.listTools(this.#context);
      this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
      this.#drawSoon();
    } catch {
      // The details say that it is unknown.
    }
  }
}

function messageOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error));
}
