import { create } from "@bufbuild/protobuf";
import type { CallContext, Tool } from "@reeve/calls/ports/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { expect, test } from "vitest";
import { contextOf } from "../../test/support/call-context.ts";
import { redactedTool } from "./redacted-tool.ts";

const secret = "canary-of-the-tool";
const redaction = new Redaction();
redaction.add(secret);
const never = new AbortController().signal;

function toolOf(call: Tool["call"]): Tool {
  return redactedTool({ descriptor: create(ToolDescriptorSchema), call }, redaction);
}

test("a result has no secret in its text, its record, and its files", async () => {
  const bytes = Buffer.concat([Buffer.from([255, 0]), Buffer.from(secret), Buffer.from([254])]);
  const tool = toolOf(() =>
    Promise.resolve({
      content: `found ${secret}`,
      isError: false,
      structured: { found: [secret], rows: 2 },
      attachments: [{ label: "file 1", mediaType: "image/png", bytes }],
    }),
  );
  const result = await tool.call(contextOf(), never);
  expect(result).toMatchObject({
    content: "found [redacted]",
    structured: { found: ["[redacted]"], rows: 2 },
    attachments: [{ label: "file 1", mediaType: "image/png" }],
  });
  const [file] = result.attachments ?? [];
  expect(Buffer.from(file?.bytes ?? [])).toEqual(
    Buffer.concat([Buffer.from([255, 0]), Buffer.from("[redacted]"), Buffer.from([254])]),
  );
});

test("progress and questions have no secret", async () => {
  const said: unknown[] = [];
  const tool = toolOf(async ({ report, ask }) => {
    report({ progress: 1, message: `at ${secret}` });
    const schema = { type: "object", title: secret };
    const { kind } = await ask({ message: `send ${secret}?`, schema, askedBy: "mcp:shop" });
    return { content: kind, isError: false };
  });
  const ask: CallContext["ask"] = (question) => {
    said.push(question);
    return Promise.resolve({ kind: "declined" });
  };
  const context = contextOf({}, (progress) => said.push(progress), { ask });
  expect(await tool.call(context, never)).toMatchObject({ content: "declined" });
  expect(said).toEqual([
    { progress: 1, message: "at [redacted]" },
    {
      message: "send [redacted]?",
      schema: { type: "object", title: "[redacted]" },
      askedBy: "mcp:shop",
    },
  ]);
});

test("a failure keeps its kind, and has no secret", async () => {
  const failure = new Failure("denied", ErrorReason.PERMISSION_DENIED, `no ${secret} here`);
  const tool = toolOf(() => Promise.reject(failure));
  await expect(tool.call(contextOf(), never)).rejects.toMatchObject({
    kind: "denied",
    reason: ErrorReason.PERMISSION_DENIED,
    message: "no [redacted] here",
  });
});
