import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { delegateTool } from "@reeve/agent/delegates/delegate-tool";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { PreparedDelegateSchema } from "@reeve/contracts/run";
import type { Setting } from "./played-log.ts";
import { PlayedRun } from "./run-player.ts";

type SpecInit = Omit<MessageInitShape<typeof AgentSpecSchema>, "$typeName" | "$unknown">;
type DelegateInit = Omit<MessageInitShape<typeof PreparedDelegateSchema>, "$typeName" | "$unknown">;

interface PlayedDelegate {
  readonly spec?: SpecInit;
  readonly prepared?: DelegateInit;
}

/** Returns a section of permission rules that allows what they do not name, `behavior tool` each. */
export const rules = (...lines: readonly string[]) => {
  const list = lines.map((line) => {
    const [behavior = "", ...tool] = line.split(" ");
    return { behavior, tool: tool.join(" ") };
  });
  return { permission: fromJson(ValueSchema, { default_behavior: "allow", rules: list }) };
};

const search = { name: "search", source: "builtin" };
export const fetchTool = {
  name: "fetch",
  source: "builtin",
  inputSchema: { type: "object", required: ["url"] },
};

/** Plays a run whose agent has the delegates `finder` and `checker`, and `finder` the delegate `checker`. */
export function delegatingRun(
  spec: SpecInit = {},
  finder: PlayedDelegate = {},
  checker: PlayedDelegate = {},
  plugins: Setting["plugins"] = [],
): PlayedRun {
  const agents = { finder: { delegates: ["checker"], ...finder.spec }, checker: checker.spec };
  const asChecker = delegateTool({ id: "checker" });
  const asFinder = delegateTool({ id: "finder" });
  return new PlayedRun(
    { delegates: ["checker", "finder"], instructions: "You lead.", ...spec },
    {
      tools: [search, asChecker, asFinder],
      plugins,
      created: {
        delegates: Object.entries(agents).map(([id, more]) => ({
          agentId: id,
          revision: 3,
          spec: { id, name: id, model: id, instructions: `You are ${id}.`, ...more },
        })),
      },
      prepared: {
        delegates: [
          { agentId: "checker", model: { id: "c" }, tools: [fetchTool], ...checker.prepared },
          {
            agentId: "finder",
            model: { id: "f" },
            tools: [fetchTool],
            sharedTools: ["search", "agent_run_checker"],
            ...finder.prepared,
          },
        ],
      },
    },
  );
}

/** Returns a call of a delegate. */
export const ask = (id: string, prompt = "find it") => ({
  name: `agent_run_${id}`,
  args: { prompt },
});

/** A delegate with a delegate of its own, whose call waits for an approval while the worker is lost, and one without budget. */
export function recordedDelegates(): PlayedRun {
  const limits = { budgets: { maxLlmCalls: 1 } };
  const run = delegatingRun({ hitlTools: ["fetch"] }, {}, { prepared: { limits } });
  run.turn(ask("finder", "find a"), ask("checker", "check b"));
  const [finder = "", checker = ""] = run.subtasks;
  run.turnIn(finder, [ask("checker", "check a")]);
  run.turnIn(checker, [{ name: "fetch", args: { url: "b" } }]);
  run.says("a is right", run.subtasks[2]).turnIn(run.subtasks[2] ?? "");
  run.says("a is 1", finder).turnIn(finder);
  run.parks().decides(ApprovalState.APPROVED, { by: "ann" }).claimedAnew();
  return run.result(0, "b", checker).says("a is 1, and b is not checked.").turn();
}
