import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Guard } from "@reeve/agent/guardrails/guard";
import { guardListOf, guardrailsSectionName } from "@reeve/agent/guardrails/guardrails-section";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { GuardSection, RunEvent } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";

/** What the guards of a run look at in the conversation of its root. */
export interface HistoryGuards {
  readonly checksInput: boolean;
  /** Whether the text that a run was streaming when it ended may be unchecked. */
  readonly checksText: boolean;
  checksTurn(text: string, calls: readonly Pick<ToolCall, "name">[]): boolean;
  checksResult(tool: string): boolean;
}

/**
 * Returns what the guards of a run look at, by its whole log. A run that was never prepared has no guards yet, and may have been given
 * some: its input counts as unchecked if its agent states guards, or if an operator's policy may.
 */
export function historyGuards(events: readonly RunEvent[]): HistoryGuards {
  const guards = events.flatMap(({ event }) =>
    event.case === "pluginsPinned"
      ? event.value.plugins.flatMap(({ guardrails }) =>
          (guardrails?.sections ?? []).filter(({ agentId }) => agentId === "").flatMap(guardsIn),
        )
      : [],
  );
  const of = (target: Guard["targets"][number]) =>
    guards.filter(({ targets }) => targets.includes(target));
  const [ofOutput, ofResults] = [of("output"), of("result")];
  const isWorkflow = events.some(
    ({ event }) => event.case === "runCreated" && event.value.spec?.workflow !== undefined,
  );
  return {
    checksInput: of("input").length > 0 || mayLackGuards(events),
    // The answer of a workflow is recorded after its guards passed it.
    checksText: ofOutput.length > 0 && !isWorkflow,
    checksTurn(text, calls) {
      const hasResult = calls.some(({ name }) => name === finishSubtaskName);
      const isAnswer = hasResult || calls.length === 0;
      return ofOutput.some(({ check }) =>
        check.kind === "schema" ? isAnswer : hasResult || text !== "",
      );
    },
    checksResult: (tool) =>
      tool !== finishSubtaskName &&
      ofResults.some(({ tools }) => tools?.some((each) => each.matches(tool)) ?? true),
  };
}

function mayLackGuards(events: readonly RunEvent[]): boolean {
  if (events.some(({ event }) => event.case === "runPrepared")) return false;
  return events.some(
    ({ event }) =>
      event.case === "runCreated" &&
      (event.value.hasPolicy || event.value.spec?.sections[guardrailsSectionName] !== undefined),
  );
}

type KnownGuard = Pick<Guard, "targets" | "tools" | "check">;

/** What a section that only a newer version can read may look at. */
const unreadable: KnownGuard = {
  targets: ["input", "output", "result"],
  tools: undefined,
  check: { kind: "text", expressions: [], literals: [], detectors: [], ignoresCase: false },
};

function guardsIn({ section }: GuardSection): readonly KnownGuard[] {
  const list = section && guardListOf(toJson(ValueSchema, section));
  return list === undefined ? [unreadable] : list.guards;
}
