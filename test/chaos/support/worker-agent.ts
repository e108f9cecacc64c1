import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Asked, Played } from "../../support/playing-server.ts";

/** How often each run has an effect of its own, in the sandbox and to be counted. */
export const effects = 3;

/** An agent whose every effect leaves a line in a file of its own, and that counts the lines at its end. */
export const workerAgent: MessageInitShape<typeof AgentSpecSchema> = {
  id: "worker",
  name: "worker",
  model: "openai:played",
  permissionClasses: ["execute"],
  hitlTools: ["add_todo"],
  deepAgent: { allowedImports: fromJson(ListValueSchema, ["glob", "json"]) },
  budgets: { maxLlmCalls: 500, maxWallClock: { seconds: 3_600n } },
};

const effect = (index: number) => `open("effect-${index}", "a").write("x\\n")`;
const count = `import glob, json
print(json.dumps({name: len(open(name).readlines()) for name in sorted(glob.glob("effect-*"))}))`;

const call = (name: string, args: object): Played => ({ calls: [{ name, args }] });

/** One effect a turn, a person's approval and a subtask in between, and the count as the answer. */
export function playWorker(asked: Asked): Played {
  const input = asked.messages[0]?.text ?? "";
  const results = asked.messages.filter(({ role }) => role === "tool");
  if (input === "say yes") return { text: "Yes, it is done." };
  const turn = asked.messages.filter(({ role }) => role === "assistant").length;
  if (turn < effects)
    return { text: `Effect ${turn}.`, ...call("execute_code", { code: effect(turn) }) };
  if (turn === effects) return call("add_todo", { text: "ask somebody" });
  if (turn === effects + 1) return call("run_subtask", { title: "yes", instructions: "say yes" });
  if (turn === effects + 2) return call("execute_code", { code: count });
  return { text: results.at(-1)?.text ?? "" };
}
