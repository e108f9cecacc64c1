import { setImmediate } from "node:timers/promises";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { findIn } from "@reeve/agent/guardrails/text-check";
import { redactText } from "@reeve/agent/guardrails/text-span";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdictSchema, TextRedaction } from "@reeve/contracts/run";
import { GuardAction, GuardTarget, TextRedactionSchema } from "@reeve/contracts/run";
import { nameOfGuard } from "@reeve/run/guardrails/guard-verdict";
import { redactAt } from "@reeve/run/guardrails/redact-messages";
import type { Finding } from "../../domain/guardrails/check-text.ts";
import { checkSchema, checkTexts } from "../../domain/guardrails/check-text.ts";
import type { GuardSubject } from "../../domain/guardrails/guard-subject.ts";
import { mapStrings } from "../../domain/guardrails/guard-subject.ts";
import type { RunGuard } from "../../domain/guardrails/pinned-guards.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import type { Moderation } from "./moderate.ts";
import { moderate } from "./moderate.ts";

type Verdict = Omit<MessageInitShape<typeof GuardVerdictSchema>, "$typeName" | "$unknown"> & {
  readonly guard: string;
  readonly action: GuardAction;
  readonly reason: string;
};

/** What guards say about a subject. */
export interface GuardOutcome {
  readonly verdicts: readonly Verdict[];
  /** What follows for the run or the call. */
  readonly answer: MessageInitShape<typeof RunHookResponseSchema>;
  /** The subject with what guards replaced. */
  readonly redacted: GuardSubject;
}

const maxReasonBytes = 1_000;

/**
 * Checks a subject by guards: first those that need no model, and the others only if none of them stops the run or refuses the subject.
 * A guard that cannot check trips, unless it says otherwise.
 */
export async function checkGuards(
  state: RunState,
  guards: readonly RunGuard[],
  subject: GuardSubject,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<GuardOutcome> {
  const verdicts: Verdict[] = [];
  let redacted = subject;
  const pure = guards.filter(({ check }) => check.kind !== "model");
  for (const guard of pure) {
    const finding = findingOf(guard, subject);
    const verdict = verdictOf(guard, subject, { finding });
    verdicts.push(verdict);
    redacted = withRedaction(redacted, guard, verdict);
    // The worker has other runs, and each check may take a while.
    await setImmediate();
    signal.throwIfAborted();
  }
  redacted = withRedactedTexts(redacted, verdicts);
  for (const guard of guards) {
    if (guard.check.kind !== "model" || verdicts.some(isFinal)) continue;
    const moderation = await moderate(state, guard.check, redacted, ports, signal);
    verdicts.push(verdictOf(guard, subject, moderation));
  }
  return { verdicts, answer: answerOf(verdicts, redacted), redacted };
}

function findingOf({ check }: RunGuard, subject: GuardSubject): Finding {
  switch (check.kind) {
    case "text":
      return checkTexts(check, subject);
    case "schema":
      return checkSchema(check, subject);
    case "model":
      return undefined;
  }
}

function isFinal({ action }: Verdict): boolean {
  return action === GuardAction.STOP || action === GuardAction.REFUSE;
}

const targets = {
  input: GuardTarget.INPUT,
  output: GuardTarget.OUTPUT,
  arguments: GuardTarget.ARGUMENTS,
  result: GuardTarget.RESULT,
} as const;

const actions = {
  stop: GuardAction.STOP,
  refuse: GuardAction.REFUSE,
  redact: GuardAction.REDACT,
  ask: GuardAction.ASK,
} as const;

function verdictOf(
  guard: RunGuard,
  { target }: GuardSubject,
  { finding, model, usage }: Moderation,
): Verdict {
  const { name, policyRule, agentId } = guard;
  const known = {
    guard: name,
    policyRule,
    agentId,
    target: targets[target],
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
  };
  if (finding === undefined) return { ...known, action: GuardAction.PASS, reason: "" };
  if ("problem" in finding) {
    const { problem } = finding;
    const isPassed = guard.check.kind === "model" && guard.check.allowsFailure;
    return isPassed
      ? { ...known, action: GuardAction.PASS, reason: "", problem }
      : {
          ...known,
          action: failedAction(guard, target),
          reason: `it could not be checked: ${problem}`,
          problem,
        };
  }
  const found = guard.reason === "" ? finding.reason : `${guard.reason} (${finding.reason})`;
  const reason = truncateToBytes(found, maxReasonBytes);
  if (guard.action !== "redact") return { ...known, action: actions[guard.action], reason };
  return finding.isReplaceable
    ? { ...known, action: GuardAction.REDACT, reason, redactions: redactionsIn(finding.spans) }
    : { ...known, action: GuardAction.REFUSE, reason };
}

/** What is not known cannot be replaced, and another answer would not be checked either. */
function failedAction({ action }: RunGuard, target: GuardSubject["target"]): GuardAction {
  const isMessage = target === "input" || target === "output";
  if (action === "redact") return isMessage ? GuardAction.STOP : GuardAction.REFUSE;
  return action === "refuse" && target === "output" ? GuardAction.STOP : actions[action];
}

function redactionsIn(
  spans: Extract<Finding, { readonly spans: unknown }>["spans"],
): TextRedaction[] {
  return spans.flatMap((found, text) =>
    found.map((span) => create(TextRedactionSchema, { ...span, text })),
  );
}

function withRedaction(
  subject: GuardSubject,
  { check }: RunGuard,
  { action }: Verdict,
): GuardSubject {
  const { json } = subject;
  if (action !== GuardAction.REDACT || check.kind !== "text" || json === undefined) return subject;
  const changed = mapStrings(json, (text) => redactText(text, findIn(check, text).spans ?? []));
  return { ...subject, json: changed as JsonObject };
}

function withRedactedTexts(subject: GuardSubject, verdicts: readonly Verdict[]): GuardSubject {
  const all = verdicts.flatMap(({ redactions = [] }) => redactions as TextRedaction[]);
  if (all.length === 0) return subject;
  return { ...subject, texts: subject.texts.map((text, index) => redactAt(text, index, all)) };
}

function answerOf(
  verdicts: readonly Verdict[],
  { target, json }: GuardSubject,
): GuardOutcome["answer"] {
  const { STOP, REFUSE, REDACT, ASK } = GuardAction;
  const said = (wanted: GuardAction) => verdicts.find(({ action }) => action === wanted);
  const stop = said(STOP);
  if (stop !== undefined) return { verdict: { case: "stop", value: { reason: sentence(stop) } } };
  if (target !== "arguments") return {};
  const refuse = said(REFUSE);
  if (refuse !== undefined)
    return { verdict: { case: "deny", value: { reason: sentence(refuse) } } };
  if (said(REDACT) !== undefined && json !== undefined) {
    return { verdict: { case: "rewrite", value: { arguments: json } } };
  }
  const ask = said(ASK);
  return ask === undefined ? {} : { verdict: { case: "ask", value: { reason: sentence(ask) } } };
}

function sentence(verdict: Verdict): string {
  const { guard, policyRule = "", agentId = "", reason } = verdict;
  return `${nameOfGuard({ guard, policyRule, agentId })}: ${reason}`;
}
