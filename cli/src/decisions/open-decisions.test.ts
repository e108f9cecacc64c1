import { create } from "@bufbuild/protobuf";
import type { Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import { OpenDecisions } from "./open-decisions.ts";

const pending = (approvalId: string) =>
  create(ApprovalSchema, { approvalId, state: ApprovalState.PENDING });
const info = { reason: "PERMISSION_DENIED", domain: "reeve.dev" };
const refusal = ReeveError.from(
  new ConnectError("this needs the role approver", Code.PermissionDenied, undefined, [
    { desc: ErrorInfoSchema, value: info },
  ]),
);

/** Asks about approvals until the questions stop, and returns the ids of the decisions that were sent. */
async function decided(approvals: readonly Approval[], answer: () => Promise<Approval>) {
  const terminal = new MemoryTerminal({ answers: ["y", "y", "y"] });
  const sent: string[] = [];
  const reeve = {
    async *listApprovals() {
      yield* approvals;
    },
    decide: ({ approvalId = "" }) => {
      sent.push(approvalId);
      return answer();
    },
  } as unknown as Client;
  const { signal } = new AbortController();
  const context = { terminal, signal, environment: {}, reeve: "reeve" };
  await using decisions = new OpenDecisions(context, reeve, "ask");
  for (const approval of approvals) await decisions.update(approval);
  await decisions.asked();
  return { sent, stderr: terminal.stderr };
}

test("an approval that is reported twice is asked about once, one after the other", async () => {
  const { sent } = await decided([pending("a"), pending("a"), pending("b")], () =>
    Promise.resolve(create(ApprovalSchema)),
  );
  expect(sent).toEqual(["a", "b"]);
});

test("a person who may not decide is not asked again, and reads who may", async () => {
  const { sent, stderr } = await decided([pending("a"), pending("b")], () =>
    Promise.reject(refusal),
  );
  expect(sent).toEqual(["a"]);
  expect(stderr).toContain("a person with the role approver has to decide");
});

test("a decision is answered, although the event that shows it arrives before", async () => {
  const sent = Promise.withResolvers<AbortSignal | undefined>();
  const answer = Promise.withResolvers<Approval>();
  const reeve = {
    async *listApprovals() {
      yield pending("a");
    },
    decide: (_: unknown, { signal }: { readonly signal?: AbortSignal } = {}) => {
      sent.resolve(signal);
      return answer.promise;
    },
  } as unknown as Client;
  const terminal = new MemoryTerminal({ answers: ["y"] });
  const context = { terminal, signal: neverAborts, environment: {}, reeve: "reeve" };
  const decisions = new OpenDecisions(context, reeve, "ask");
  await decisions.update(pending("a"));
  const signal = await sent.promise;
  await decisions.update(
    create(ApprovalSchema, { approvalId: "a", state: ApprovalState.APPROVED }),
  );
  const events: string[] = [];
  const disposed = decisions[Symbol.asyncDispose]().then(() => events.push("disposed"));
  expect(signal?.aborted).toBe(false);
  events.push("answered");
  answer.resolve(create(ApprovalSchema));
  await disposed;
  expect(events).toEqual(["answered", "disposed"]);
});

test.each(["approve", "reject"] as const)(
  "an option of the command decides each approval once: %s",
  async (mode) => {
    const sent: string[] = [];
    const reeve = {
      decide: async ({ approvalId = "" }) => {
        sent.push(approvalId);
        return create(ApprovalSchema);
      },
    } as unknown as Client;
    const terminal = new MemoryTerminal({ answers: [] });
    const context = { terminal, signal: neverAborts, environment: {}, reeve: "reeve" };
    await using decisions = new OpenDecisions(context, reeve, mode);
    await decisions.update(pending("a"));
    // Advice of a model, which was added before the decision.
    await decisions.update(create(ApprovalSchema, { ...pending("a"), revision: 1 }));
    await decisions.update(pending("b"));
    expect(sent).toEqual(["a", "b"]);
  },
);

test("a decision for which an option of the command is too late ends nothing", async () => {
  const reason = "APPROVAL_CLOSED";
  const closed = ReeveError.from(
    new ConnectError("somebody was first", Code.FailedPrecondition, undefined, [
      { desc: ErrorInfoSchema, value: { reason, domain: "reeve.dev" } },
    ]),
  );
  const reeve = { decide: () => Promise.reject(closed) } as unknown as Client;
  const terminal = new MemoryTerminal({ answers: [] });
  const context = { terminal, signal: neverAborts, environment: {}, reeve: "reeve" };
  await using decisions = new OpenDecisions(context, reeve, "approve");
  await decisions.update(pending("a"));
  expect(terminal.stderr).toContain("somebody was first");
});
