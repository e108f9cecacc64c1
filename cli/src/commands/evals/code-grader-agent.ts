import { equals, fromJson } from "@bufbuild/protobuf";
import type { Agent, Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

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

/**
 * Creates the agent that runs the code of graders, if the tenant does not have it. Throws if the caller may not, or if the tenant has
 * another agent with its id, which would get the code and the answers, and decide what passes.
 */
export async function ensureCodeGrader(reeve: Client, signal: AbortSignal): Promise<void> {
  try {
    assertCodeGrader(await reeve.agents.get(codeGraderId, { signal }));
  } catch (error) {
    if (!(error instanceof ReeveError) || error.reason !== "AGENT_NOT_FOUND") throw error;
    await reeve.agents.create(spec, { signal }).catch(async (refusal: unknown) => {
      if (!(refusal instanceof ReeveError) || refusal.reason !== "AGENT_EXISTS") throw refusal;
      // Somebody else was faster.
      assertCodeGrader(await reeve.agents.get(codeGraderId, { signal }));
    });
  }
}

function assertCodeGrader({ spec: found, revision, createdBy }: Agent): void {
  if (found !== undefined && equals(AgentSpecSchema, found, spec)) return;
  const whose = createdBy === "" ? "" : ` by ${createdBy}`;
  const message = `agent ${codeGraderId} (revision ${revision}${whose}) is not the one that grades by code; delete it, and run the eval again as an author, which creates the right one`;
  throw new Failure("exists", ErrorReason.AGENT_EXISTS, message, {
    metadata: { agent_id: codeGraderId },
  });
}
