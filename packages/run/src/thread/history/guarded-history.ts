import { create } from "@bufbuild/protobuf";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import type { ToolResult } from "@reeve/contracts/tool";
import { guardedResult, isRefusal } from "../../guardrails/guard-verdict.ts";
import { redactMessages } from "../../guardrails/redact-messages.ts";
import type { Open } from "./open-call.ts";

/** The conversation of a run so far, as later runs read it, with what its guards replaced and refused. */
export class GuardedHistory {
  /** How many messages of people the open step took up. */
  injected = 0;
  readonly #messages: (HistoryMessage | Open)[];
  readonly #results: Map<string, ToolResult>;

  constructor(messages: (HistoryMessage | Open)[], results: Map<string, ToolResult>) {
    this.#messages = messages;
    this.#results = results;
  }

  /** Applies the verdicts of guards at the root. */
  apply({ phase, callId, guards }: PluginHookFinished): void {
    if (guards.length === 0) return;
    switch (phase) {
      case HookPhase.RUN_START:
        return this.#redactUser(1, guards);
      case HookPhase.STEP_START:
        return this.#redactUser(this.injected, guards);
      case HookPhase.AFTER_INFERENCE:
        return guards.some(isRefusal) ? this.#dropAnswer() : undefined;
      case HookPhase.AFTER_TOOL:
        return this.#changeResult(callId, guards);
      default:
        return undefined;
    }
  }

  #redactUser(count: number, guards: readonly GuardVerdict[]): void {
    const redactions = guards.flatMap((each) => each.redactions);
    if (redactions.length === 0) return;
    const places = this.#messages.flatMap((each, index) =>
      "message" in each && each.message.case === "user"
        ? [[index, each.message.value] as const]
        : [],
    );
    const newest = count === 0 ? [] : places.slice(-count);
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
    const changed = guardedResult(result, guards);
    if (changed !== result) this.#results.set(callId, changed);
  }
}
