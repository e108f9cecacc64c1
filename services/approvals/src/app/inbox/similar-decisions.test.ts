import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { numbered, openLists } from "../../../test/support/listed-approvals.ts";
import { similarDecisions } from "./similar-decisions.ts";

const never = new AbortController().signal;
const { APPROVED, REJECTED, TIMED_OUT } = ApprovalState;
const pay = (to: string) => ({ agentId: "payer", call: { name: "pay", arguments: { to } } });
const large = (number: number, bytes: number, decidedBy: string) =>
  numbered(number, {
    agentId: "payer",
    call: { name: "pay", arguments: { to: "x".repeat(bytes) } },
    state: APPROVED,
    ...(decidedBy !== "" && { decision: by(decidedBy) }),
  });
const by = (decidedBy: string, reason = "") => ({ decidedBy, reason });

test("an approval shows how people decided earlier calls of the same tool by the same agent", async () => {
  const ports = await openLists(
    numbered(1, { ...pay("ann"), state: APPROVED, decision: by("eve", "known payee") }),
    numbered(2, { ...pay("bob"), state: REJECTED, decision: by("ada") }),
    numbered(3, { ...pay("bob"), state: TIMED_OUT }),
    numbered(4, { ...pay("ann"), agentId: "other", state: APPROVED, decision: by("eve") }),
    numbered(5, { agentId: "payer", call: { name: "mail" }, state: APPROVED, decision: by("eve") }),
    numbered(6, { ...pay("ann"), state: APPROVED, decision: by("eve"), question: {} }),
    numbered(7, pay("ann")),
    numbered(8, {
      ...pay("ann"),
      state: APPROVED,
      decision: { ...by("eve"), editedArguments: {}, appliedGrant: { grantId: "grt_1" } },
    }),
  );
  const found = await similarDecisions(ports, "acme", "run_aaaaaaaa-3-7", never);
  expect(found).toMatchObject([
    { state: APPROVED, decidedBy: "eve", editedArguments: true, byGrant: true },
    { state: REJECTED, decidedBy: "ada", sameArguments: false, byGrant: false },
    { state: APPROVED, decidedBy: "eve", reason: "known payee", sameArguments: true },
  ]);
});

test("only the newest five are returned, and those of other tenants never", async () => {
  const past = Array.from({ length: 7 }, (_, index) =>
    numbered(index, { ...pay("ann"), state: APPROVED, decision: by(`eve-${index}`) }),
  );
  const ports = await openLists(...past, numbered(9, pay("ann")));
  const found = await similarDecisions(ports, "acme", "run_aaaaaaaa-3-9", never);
  expect(found.map(({ decidedBy }) => decidedBy)).toEqual(
    [6, 5, 4, 3, 2].map((index) => `eve-${index}`),
  );
  const stranger = similarDecisions(ports, "globex", "run_aaaaaaaa-3-9", never);
  await expect(stranger).rejects.toMatchObject({ kind: "not_found" });
});

test("large approvals end the search, so that one request does not keep the process from other work", async () => {
  const megabyte = 1_000_000;
  const older = Array.from({ length: 6 }, (_, index) => large(index + 2, megabyte, ""));
  const ports = await openLists(
    large(1, 1, "beyond"),
    ...older,
    large(8, megabyte, "eve"),
    numbered(9, pay("ann")),
  );
  const found = await similarDecisions(ports, "acme", "run_aaaaaaaa-3-9", never);
  expect(found.map(({ decidedBy }) => decidedBy)).toEqual(["eve"]);
});
