import { setImmediate } from "node:timers/promises";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { TextSpan } from "@reeve/agent/guardrails/text-span";
import { disjoint, redactText } from "@reeve/agent/guardrails/text-span";
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
  /** For each string in the arguments, what guards found there that they replace. */
  const strings: TextSpan[][] = [];
  const pure = guards.filter(({ check }) => check.kind !== "model");
  for (const guard of pure) {
    const finding = await findingOf(guard, subject, signal);
    const verdict = verdictOf(guard, subject, { finding });
    verdicts.push(verdict);
    if (verdict.action !== GuardAction.REDACT || finding === undefined || "problem" in finding) {
      continue;
    }
    for (const [index, spans] of finding.strings.entries()) (strings[index] ??= []).push(...spans);
  }
  const redacted = withRedactions(subject, verdicts, strings);
  for (const guard of guards) {
    const { check, policyRule } = guard;
    if (check.kind !== "model" || verdicts.some(isFinal)) continue;
    const moderation = await moderate(state, { check, policyRule }, redacted, ports, signal);
    verdicts.push(verdictOf(guard, subject, moderation));
  }
  return { verdicts, answer: answerOf(verdicts, redacted), redacted };
}

async function findingOf(
  { check, action }: RunGuard,
  subject: GuardSubject,
  signal: AbortSignal,
): Promise<Finding> {
  switch (check.kind) {
    case "text": {
      const checking = checkTexts(check, subject, action !== "redact");
      for (;;) {
        const { done, value } = checking.next();
        // The worker has other runs, and each check may take a while.
        await setImmediate();
        signal.throwIfAborted();
        if (done === true) return value;
      }
    }
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

/** Replaces what all guards found at once: what one of them leaves of a text may not be what another found. */
function withRedactions(
  subject: GuardSubject,
  verdicts: readonly Verdict[],
  strings: readonly (readonly TextSpan[])[],
): GuardSubject {
  const all = verdicts.flatMap(({ redactions = [] }) => redactions as TextRedaction[]);
  const texts = subject.texts.map((text, index) => redactAt(text, index, all));
  const { json } = subject;
  if (json === undefined || strings.every((spans) => spans.length === 0)) {
    return all.length === 0 ? subject : { ...subject, texts };
  }
  let index = 0;
  const changed = mapStrings(json, (text) => redactText(text, disjoint(strings[index++] ?? [])));
  // An object with other strings is an object.
  return { ...subject, texts, json: changed as JsonObject };
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
