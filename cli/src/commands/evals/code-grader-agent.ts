import { fromJson } from "@bufbuild/protobuf";
import type { Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";

/** The id has a version: what the agent does never changes. */
export const codeGraderId = "eval-code-grader-1";

/** Runs the code of a case in the sandbox, as a value and not as a part of the program, so that all graders share one agent. */
const program = `import json
case = inputs["case"]
space = {"__name__": "grader"}
exec(compile(case["python"], "grader.py", "exec"), space)
json.dumps(space["grade"](case["input"], case["answer"], case["expected"]))
`;

/** The hard limit of the code, in seconds. Each grader has its own. */
export const maxCodeSeconds = 300;

/** The workflow that runs the code of graders: it calls no model. */
const spec = fromJson(AgentSpecSchema, {
  id: codeGraderId,
  name: "Code grader of evals",
  allowed_tools: ["execute_code"],
  permission_classes: ["execute"],
  deep_agent: { code_timeout: `${maxCodeSeconds}s` },
  workflow: {
    nodes: [
      { id: "case", type: "input", properties: { schema: { type: "object" } } },
      { id: "grade", type: "code", properties: { code: program, timeout: maxCodeSeconds } },
      { id: "verdict", type: "output" },
    ],
    edges: [
      { source: "case", target: "grade", target_handle: "case" },
      { source: "grade", source_handle: "result", target: "verdict" },
    ],
  },
});

/** Creates the agent that runs the code of graders, if the tenant does not have it. Throws if the caller may not. */
export async function ensureCodeGrader(reeve: Client, signal: AbortSignal): Promise<void> {
  try {
    await reeve.agents.get(codeGraderId, { signal });
  } catch (error) {
    if (!(error instanceof ReeveError) || error.reason !== "AGENT_NOT_FOUND") throw error;
    await reeve.agents.create(spec, { signal }).catch((refusal: unknown) => {
      // Another eval was faster.
      if (!(refusal instanceof ReeveError) || refusal.reason !== "AGENT_EXISTS") throw refusal;
    });
  }
}
