import { create } from "@bufbuild/protobuf";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { ErrorReason } from "@reeve/contracts/error";
import { MessageSubmittedSchema, RunCreatedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { emptyHead } from "../head/run-head.ts";
import { assertInboxRoom } from "./message-limits.ts";

test("pending messages count with what their files take in the log", () => {
  const value = { name: "n".repeat(255), artifactId: "a", sha256: "b".repeat(64) };
  const file = create(ContentPartSchema, { part: { case: "file", value } });
  const message = { text: "see", parts: Array.from({ length: 100 }, () => file) };
  const headWith = (count: number) => {
    const pending = create(MessageSubmittedSchema, { message });
    const all = Array.from({ length: count }, (_, index) => [`m${index}`, pending] as const);
    return { ...emptyHead, pendingMessages: new Map(all) };
  };
  assertInboxRoom(headWith(10), message);
  expect(() => assertInboxRoom(headWith(99), message)).toThrow(
    expect.objectContaining({ reason: ErrorReason.INBOX_FULL }),
  );
});

test("a run of a workflow takes no messages", () => {
  const created = create(RunCreatedSchema, {
    spec: { workflow: { nodes: [{ id: "a", type: "output" }] } },
  });
  expect(() => assertInboxRoom({ ...emptyHead, created }, { text: "more", parts: [] })).toThrow(
    expect.objectContaining({ reason: ErrorReason.UNSUPPORTED_CAPABILITY }),
  );
});
