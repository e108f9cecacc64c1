import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema, FilePartSchema } from "@reeve/contracts/content/parts";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { assertReachesEndpoint } from "./endpoint-input.ts";

const remote = create(AgentSpecSchema, { endpoint: { url: "https://x.example" } });
const input = (...parts: readonly ContentPart[]) => ({ files: [], messages: [], parts });

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
  const value = create(FilePartSchema, { artifactId: "a" });
  const file = create(ContentPartSchema, { part: { case: "file", value } });
  const request = {
    ...input(file),
    outputSchema: { type: "object" },
    clientTools: {},
    files: [{}],
    messages: [{}],
  };
  expect(fieldsRefused(request)).toEqual([
    "output_schema",
    "client_tools",
    "files",
    "messages",
    "parts",
  ]);
  expect(() => assertReachesEndpoint(create(AgentSpecSchema), request)).not.toThrow();
  const text = create(ContentPartSchema, { part: { case: "text", value: "x" } });
  expect(() => assertReachesEndpoint(remote, input(text))).not.toThrow();
});
