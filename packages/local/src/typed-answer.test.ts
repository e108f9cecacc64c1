import { RunStatus } from "@reeve/contracts/run";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { describe, expect, test } from "vitest";
import { runAgent } from "./run-agent.ts";

const never = new AbortController().signal;
const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const script = parseScript(
  `turns:
  - tool_calls: [{ name: finish_subtask, arguments: { n: 4 } }]
`,
  "typed.yaml",
);
const agent = { id: "a", name: "a", model: "scripted:typed" };
const providers = [scriptedProvider([script])];

describe("the answer of a run is typed", () => {
  test("by the schema of its agent", async () => {
    const run = runAgent({ ...agent, outputSchema: schema }, "go", { providers, signal: never });
    expect(await run.ended).toMatchObject({
      status: RunStatus.COMPLETED,
      structuredOutput: { n: 4 },
      output: `{"n":4}`,
      planHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("by the schema of its request, which takes precedence", async () => {
    const created = { outputSchema: schema };
    const spec = { ...agent, outputSchema: { type: "object", required: ["other"] } };
    const run = runAgent(spec, "go", { providers, signal: never, created });
    expect(await run.ended).toMatchObject({ structuredOutput: { n: 4 } });
  });
});

test.each([
  [{ outputSchema: { type: "banana" } }, {}],
  [{ outputSchema: { pattern: "(?=x)" } }, {}],
  [{ outputSchema: { description: "x".repeat(70_000) } }, {}],
  [{}, { outputSchema: { type: "banana" } }],
])("a schema that cannot be enforced is refused with its field", (spec, created) => {
  const violations = [expect.objectContaining({ field: "output_schema", reason: "MALFORMED" })];
  const start = () => runAgent({ ...agent, ...spec }, "go", { providers, signal: never, created });
  expect(start).toThrow(expect.objectContaining({ violations }));
});
