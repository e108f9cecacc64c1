import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { assertReachesEndpoint } from "./endpoint-input.ts";

const remote = create(AgentSpecSchema, { endpoint: { url: "https://x.example" } });

// Requirement: RES-3
test("a run of an agent at an endpoint is refused with what the agent would not get", () => {
  const request = create(StartRunRequestSchema, {
    outputSchema: { type: "object" },
    clientTools: {},
    files: [{ artifactId: "f" }],
    messages: [{ content: "before" }],
    parts: [{ part: { case: "file", value: {} } }],
  });
  try {
    assertReachesEndpoint(remote, request);
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const fields = error.violations.map(({ field }) => field);
    expect(fields).toEqual(["output_schema", "client_tools", "files", "messages", "parts"]);
  }
  expect(() => assertReachesEndpoint(create(AgentSpecSchema), request)).not.toThrow();
  const text = create(StartRunRequestSchema, { parts: [{ part: { case: "text", value: "x" } }] });
  expect(() => assertReachesEndpoint(remote, text)).not.toThrow();
});
