import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ReeveError } from "@reeve/client";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { describe, expect, test } from "vitest";
import { MemoryTerminal } from "../../../test/support/memory-terminal.ts";
import { decide } from "../decide.ts";

const denied = ReeveError.from(
  new ConnectError("somebody else answers", Code.PermissionDenied, undefined, [
    { desc: ErrorInfoSchema, value: { reason: "PERMISSION_DENIED", domain: "reeve" } },
  ]),
);

interface Refused {
  readonly asRequester?: boolean;
  readonly asApprover?: boolean;
}

async function asked(answer: JsonObject, answers: readonly string[], refused: Refused = {}) {
  const terminal = new MemoryTerminal({ answers });
  const sent: unknown[] = [];
  const schema = { type: "object", properties: { answer } };
  const approval = create(ApprovalSchema, {
    approvalId: "c1",
    call: { callId: "c1", name: "ask_user" },
    question: { message: "Which dish?\u001b[2J", schema, askedBy: "agent" },
  });
  const send = (way: string, isRefused: boolean | undefined) => (request: object) => {
    sent.push({ way, ...request });
    return isRefused ? Promise.reject(denied) : Promise.resolve(create(ApprovalSchema));
  };
  const reeve = {
    answer: send("requester", refused.asRequester),
    decide: send("approver", refused.asApprover),
  };
  const context = { terminal, signal: neverAborts, environment: {}, reeve: "reeve" };
  const outcome = decide(context, reeve, approval, "ask", neverAborts);
  const error: unknown = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { sent, stdout: terminal.stdout, error };
}

const dishes = { type: "string", enum: ["soup", "salad"] };
const base = { approvalId: "c1", reason: "" };

describe("a person whom an agent asks", () => {
  test("sees the question and the choices, and answers with a number", async () => {
    const { sent, stdout } = await asked(dishes, ["3", "2"]);
    expect(stdout).toContain("Which dish?");
    expect(stdout).not.toContain("\u001b[2J");
    expect(stdout).toContain("1. soup\n      2. salad\n");
    expect(stdout).toContain("choose one of: soup, salad");
    expect(sent).toEqual([
      { way: "requester", ...base, declined: false, answer: { answer: "salad" } },
    ]);
  });

  test("declines with a reason", async () => {
    const { sent } = await asked(dishes, ["/decline", "not hungry"]);
    expect(sent).toEqual([{ way: "requester", ...base, reason: "not hungry", declined: true }]);
  });

  test("answers as an approver if somebody else asked for the run", async () => {
    const { sent } = await asked(dishes, ["soup"], { asRequester: true });
    expect(sent[1]).toEqual({
      way: "approver",
      ...base,
      approved: true,
      answer: { answer: "soup" },
    });
  });

  test("reads who may answer, if that is somebody else", async () => {
    const { error } = await asked(dishes, ["soup"], { asRequester: true, asApprover: true });
    expect(error).toBe(denied);
  });

  test("leaves the question open when the input ends", async () => {
    expect((await asked(dishes, [])).sent).toEqual([]);
  });
});
