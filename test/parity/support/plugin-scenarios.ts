import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import type { Scenario } from "./backend.ts";
import { call, inputOf, isPending, turnsOf } from "./played.ts";

/** The file of plugins that every backend has. */
export const pluginsFile = join(
  import.meta.dirname,
  "../../../examples/plugin-typescript/plugins.yaml",
);

const spec = (maxCalls: number): NonNullable<Scenario["spec"]> => ({
  pluginIds: ["call-limit"],
  sections: { "call-limit": fromJson(ValueSchema, { max_calls: maxCalls }) },
  allowedToolPatterns: fromJson(ListValueSchema, ["call-limit__*", "run_subtask"]),
});

/** Returns what the plugin adds to the system prompt. */
const limitIn = (system: string): string => /You may make \d+ more calls\./.exec(system)?.[0] ?? "";

/** Runs with a plugin that has a hook in every phase. */
export const pluginScenarios: readonly Scenario[] = [
  {
    name: "plugin",
    spec: { ...spec(1), hitlTools: ["call-limit__remaining"] },
    play: (asked) =>
      turnsOf(asked) < 2 ? call("call-limit__remaining") : { text: limitIn(asked.system) },
    act: (event, people) =>
      isPending(event) ? people.decide(event, { approved: true }) : undefined,
  },
  {
    name: "plugin in a subtask",
    spec: spec(2),
    play: (asked) => {
      if (turnsOf(asked) > 0) return { text: limitIn(asked.system) };
      return inputOf(asked).startsWith("part")
        ? call("call-limit__remaining")
        : call("run_subtask", { title: "a", instructions: "part a" });
    },
  },
];
