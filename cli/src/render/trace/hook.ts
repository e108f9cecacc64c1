import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import type { Style } from "../../style.ts";
import { oneLine } from "../plain-text.ts";

const targets: Partial<Record<GuardTarget, string>> = {
  [GuardTarget.INPUT]: "the input",
  [GuardTarget.OUTPUT]: "the answer",
  [GuardTarget.ARGUMENTS]: "the call",
  [GuardTarget.RESULT]: "the result",
};

const verbs: Partial<Record<GuardAction, string>> = {
  [GuardAction.REDACT]: "redacted a part of",
  [GuardAction.ASK]: "wants a person to decide on",
  [GuardAction.REFUSE]: "refused",
  [GuardAction.STOP]: "stopped the run because of",
};

/** Returns lines about what a plugin or a guard changed or refused. None if it changed nothing. */
export function renderHook(
  hook: PluginHookFinished,
  style: Style,
  width: number,
): readonly string[] {
  if (hook.guards.length > 0) return hook.guards.flatMap((each) => guardLines(each, style, width));
  const { pluginId, answer, error } = hook;
  if (error !== "") {
    return [`    ${style("red", "✗")} plugin ${pluginId} failed: ${oneLine(error, width)}`];
  }
  const line = (verb: string, reason: string) => [
    `    ${style("yellow", "◆")} plugin ${pluginId} ${verb}${reason === "" ? "" : `: ${oneLine(reason, width)}`}`,
  ];
  switch (answer?.verdict.case) {
    case "stop":
      return line("stopped the run", answer.verdict.value.reason);
    case "deny":
      return line("refused the call", answer.verdict.value.reason);
    case "ask":
      return line("wants a person to decide on the call", answer.verdict.value.reason);
    case "rewrite":
      return line("replaced the arguments of the call", "");
    case "allow":
    case undefined:
      return [];
  }
  return [];
}

function guardLines(verdict: GuardVerdict, style: Style, width: number): readonly string[] {
  const { guard, target, action, reason, problem } = verdict;
  const verb = verbs[action];
  const mark = style("yellow", "◆");
  if (verb !== undefined) {
    return [
      `    ${mark} guard ${guard} ${verb} ${targets[target] ?? "a text"}: ${oneLine(reason, width)}`,
    ];
  }
  // It passed although it could not check.
  return problem === ""
    ? []
    : [`    ${mark} guard ${guard} did not check: ${oneLine(problem, width)}`];
}
