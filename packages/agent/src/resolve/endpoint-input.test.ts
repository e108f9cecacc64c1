import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { assertReachesEndpoint } from "./endpoint-input.ts";

const remote = create(AgentSpecSchema, { endpoint: { url: "https://x.example" } });

function fieldsRefused(request: Parameters<typeof assertReachesEndpoint>[1]): unknown {
  try {
    assertReachesEndpoint(remote, request);
    return [];
  } catch (error) {
    return error instanceof Failure ? error.violations.map(({ field }) => field) : error;
  }
}

// Requirement: RES-3
test("a run of an agent at an endpoint is refused with what the agent would not get", () => {
  const request = {
    outputSchema: { type: "object" },
    clientTools: {},
    files: [{}],
    messages: [{}],
  };
  expect(fieldsRefused(request)).toEqual(["output_schema", "client_tools", "files", "messages"]);
  expect(() => assertReachesEndpoint(create(AgentSpecSchema), request)).not.toThrow();
  expect(fieldsRefused({ files: [], messages: [] })).toEqual([]);
});
