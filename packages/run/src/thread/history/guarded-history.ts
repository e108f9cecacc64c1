import { create } from "@bufbuild/protobuf";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import type { ToolCall, ToolResult } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { guardedResult, isRefusal } from "../../guardrails/guard-verdict.ts";
import { redactMessages } from "../../guardrails/redact-messages.ts";
import type { HistoryGuards } from "./history-guards.ts";
import type { Open } from "./open-call.ts";

/** What later turns read in place of a message that guards stopped, or have not looked at. */
const withheldMessage = "[withheld: the guards of the run did not pass this message]";
const withheldResult = "withheld: the run ended before its guards had passed this result";

/**
 * The conversation of a run so far, as later runs read it, with what its guards replaced and refused, and without what they have not
 * passed before the run ended.
 */
export class GuardedHistory {
  /** How many messages of people the open step took up. */
  injected = 0;
  readonly #messages: (HistoryMessage | Open)[];
  readonly #results: Map<string, ToolResult>;
  readonly #guards: HistoryGuards;
  /** The messages of people that no guard has looked at. */
  readonly #unchecked = new Set<unknown>();
  readonly #stopped = new Set<unknown>();
  readonly #started = new Set<string>();
  readonly #passedResults = new Set<string>();
  #isTurnUnchecked = false;

  constructor(
    messages: (HistoryMessage | Open)[],
    results: Map<string, ToolResult>,
    guards: HistoryGuards,
  ) {
    this.#messages = messages;
    this.#results = results;
    this.#guards = guards;
  }

  /** Notes that a message of a person is the newest one. */
  addUser(): void {
    if (this.#guards.checksInput) this.#unchecked.add(this.#messages.at(-1));
  }

  /** Notes that the newest message is a turn. */
  addTurn(text: string, calls: readonly Pick<ToolCall, "name">[]): void {
    this.#isTurnUnchecked = this.#guards.checksTurn(text, calls);
  }

  /** Notes that a call has started: guards look at results of such calls only. */
  start(callId: string): void {
    this.#started.add(callId);
  }

  /** Applies the verdicts of guards at the root. */
  apply({ phase, callId, guards, error }: PluginHookFinished): void {
    if (guards.length === 0 || error !== "") return;
    switch (phase) {
      case HookPhase.RUN_START:
        return this.#checkUser(1, guards);
      case HookPhase.STEP_START:
        return this.#checkUser(this.injected, guards);
      case HookPhase.AFTER_INFERENCE:
        this.#isTurnUnchecked = false;
        return guards.some(isRefusal) ? this.#dropAnswer() : undefined;
      case HookPhase.AFTER_TOOL:
        return this.#changeResult(callId, guards);
      default:
        return undefined;
    }
  }

  /**
   * Withholds what guards have not passed. A run that continues this one checks the messages of people itself: with `keepsUnchecked`,
   * only those that guards stopped are withheld.
   */
  end(keepsUnchecked: boolean): void {
    if (this.#isTurnUnchecked) this.#dropAnswer();
    const isWithheld = (message: unknown) =>
      this.#stopped.has(message) || (this.#unchecked.has(message) && !keepsUnchecked);
    for (const [index, message] of this.#messages.entries()) {
      if (isWithheld(message)) this.#messages[index] = withheld();
      if (!("open" in message)) continue;
      const { callId, name } = message.open;
      const result = this.#results.get(callId);
      const needsVerdict = this.#started.has(callId) && this.#guards.checksResult(name);
      if (result === undefined || !needsVerdict || this.#passedResults.has(callId)) continue;
      const given = { callId, name, content: withheldResult, isError: true };
      this.#results.set(callId, create(ToolResultSchema, given));
    }
  }

  /** The newest messages of people, with their places, oldest first. */
  #newest(count: number) {
    const places = this.#messages.flatMap((each, index) =>
      "message" in each && each.message.case === "user"
        ? [[index, each.message.value] as const]
        : [],
    );
    return count === 0 ? [] : places.slice(-count);
  }

  #checkUser(count: number, guards: readonly GuardVerdict[]): void {
    const refusal = guards.find(isRefusal);
    // What guards could not check is as unknown as before.
    if (refusal !== undefined && refusal.problem !== "") return;
    for (const [index] of this.#newest(count)) {
      const message = this.#messages[index];
      this.#unchecked.delete(message);
      if (refusal !== undefined) this.#stopped.add(message);
    }
    if (refusal === undefined) this.#redactUser(count, guards);
  }

  #redactUser(count: number, guards: readonly GuardVerdict[]): void {
    const redactions = guards.flatMap((each) => each.redactions);
    if (redactions.length === 0) return;
    const newest = this.#newest(count);
    const redacted = redactMessages(
      newest.map(([, value]) => value),
      redactions,
    );
    for (const [at, [index]] of newest.entries()) {
      const { text = "", parts = [] } = redacted[at] ?? {};
      const value = { text, parts: [...parts] };
      this.#messages[index] = create(HistoryMessageSchema, { message: { case: "user", value } });
    }
  }

  /** Removes the newest answer, or the text of a turn with calls: nobody was to read it. */
  #dropAnswer(): void {
    const index = this.#messages.findLastIndex(
      (each) => "message" in each && each.message.case === "assistant",
    );
    const found = this.#messages[index];
    if (found === undefined || !("message" in found) || found.message.case !== "assistant") return;
    const { value } = found.message;
    if (value.calls.length === 0) {
      this.#messages.splice(index, 1);
      return;
    }
    const kept = { ...value, text: "", format: "redacted", messageJson: new Uint8Array() };
    this.#messages[index] = create(HistoryMessageSchema, {
      message: { case: "assistant", value: kept },
    });
  }

  #changeResult(callId: string, guards: readonly GuardVerdict[]): void {
    const result = this.#results.get(callId);
    if (result === undefined) return;
    this.#passedResults.add(callId);
    const changed = guardedResult(result, guards);
    if (changed !== result) this.#results.set(callId, changed);
  }
}

function withheld(): HistoryMessage {
  const value = { text: withheldMessage };
  return create(HistoryMessageSchema, { message: { case: "user", value } });
}
