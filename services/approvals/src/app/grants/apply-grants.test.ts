import {
  ApprovalSchema,
  ApprovalState,
  GrantSchema,
  GrantScope,
  GrantUseSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { tenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { Failure } from "@reeve/platform/failure";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { Asking } from "../../../test/support/granted-runs.ts";
import { GrantedRuns } from "../../../test/support/granted-runs.ts";
import { ada, noon } from "../../../test/support/parked-run.ts";
import { revokeGrant } from "./revoke-grant.ts";

const never = new AbortController().signal;
const { APPROVED, PENDING, REJECTED } = ApprovalState;

/** Returns the states in which the approvals end after grants were applied. */
async function statesAfter(runs: GrantedRuns, ids: readonly string[]): Promise<unknown[]> {
  await using _ = runs.applying();
  await runs.settled();
  return await Promise.all(ids.map(async (id) => (await runs.read(id))?.state));
}

function fileOf(sha256: string, state = "file") {
  const files = [
    { path: "python", state: "absent" },
    { path: "d.py", state, sha256 },
  ];
  return { digest: sha256.repeat(64), files };
}

describe("a grant", () => {
  test("decides matching calls by facts that name its rule and who made it", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay(bob)", { maxUses: 2 });
    const [same, other] = [await runs.asks(), await runs.asks({ args: { to: "eve" } })];
    expect(await statesAfter(runs, [same, other])).toEqual([APPROVED, PENDING]);
    const { grantId } = (await runs.grant()) ?? {};
    expect(await runs.read(same)).toMatchObject({
      decision: {
        decidedBy: "ada",
        appliedGrant: { grantId, rule: "pay(bob)", scope: GrantScope.AGENT },
      },
    });
    expect((await runs.grant())?.uses).toMatchObject([{ approvalId: same }]);
    expect(runs.ports.dispatch.length).toBe(2);
  });

  test("decides approvals that come while it is applied, and those that waited when it was made", async () => {
    const runs = await GrantedRuns.open();
    await using _ = runs.applying();
    const [first, waiting] = [await runs.asks(), await runs.asks()];
    await runs.settled();
    await runs.grants(first, "pay");
    const later = await runs.asks();
    await runs.settled();
    expect((await runs.read(waiting))?.state).toBe(APPROVED);
    expect((await runs.read(later))?.state).toBe(APPROVED);
  });

  test("has as many uses as it says, however many approvals and processes want one", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { maxUses: 3 });
    const ids = await Promise.all(Array.from({ length: 8 }, () => runs.asks()));
    await using processes = new AsyncDisposableStack();
    processes.use(runs.applying());
    processes.use(runs.applying());
    await runs.settled();
    const decided = await Promise.all(ids.map((id) => runs.read(id)));
    expect(decided.filter((each) => each?.state === APPROVED)).toHaveLength(3);
    const uses = (await runs.grant())?.uses.map(({ approvalId }) => approvalId);
    const approved = decided.flatMap((each) => (each?.state === APPROVED ? [each.approvalId] : []));
    expect(uses?.toSorted()).toEqual(approved.toSorted());
  });

  test("decides nothing after it has expired", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { lifetime: { seconds: 60n } });
    await runs.ports.clock.advance(60_000);
    expect(await statesAfter(runs, [await runs.asks()])).toEqual([PENDING]);
  });

  test("decides nothing after it was revoked", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay");
    const grantId = (await runs.grant())?.grantId ?? "";
    const revoked = { grantId, revokedBy: "eve" };
    const grant = await revokeGrant(runs.ports, ada.tenant, revoked, never);
    expect(grant).toMatchObject({ revokedBy: "eve", revokedAt: timestampFromMs(noon) });
    expect(await statesAfter(runs, [await runs.asks()])).toEqual([PENDING]);
  });

  test("decides nothing after it was revoked, also by a process that stood still since it read it", async () => {
    for (const isRevoked of [true, false]) {
      const runs = await GrantedRuns.open();
      await runs.grants(await runs.asks(), "pay");
      const id = await runs.asks();
      const { log, clock } = runs.ports;
      let hasStoodStill = false;
      const slow: RunLog = {
        append: (...args) => log.append(...args),
        read: async (...args) => {
          const grant = await runs.grant();
          const hasReserved = grant?.uses.some(({ approvalId }) => approvalId === id) === true;
          if (hasReserved && !hasStoodStill) {
            hasStoodStill = true;
            const revoked = { grantId: grant.grantId, revokedBy: "eve" };
            if (isRevoked) await revokeGrant(runs.ports, ada.tenant, revoked, never);
            await clock.advance(6_000);
          }
          return await log.read(...args);
        },
        follow: (...args) => log.follow(...args),
      };
      await using _ = runs.applying({ ...runs.ports, log: slow });
      await runs.settled();
      expect(hasStoodStill).toBe(true);
      expect((await runs.read(id))?.state).toBe(PENDING);
      // It looks again.
      await clock.advance(60_000);
      await runs.settled();
      expect((await runs.read(id))?.state).toBe(isRevoked ? PENDING : APPROVED);
    }
  });

  test("decides an approval that the log lacked as it was first read", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay");
    const id = await runs.asks();
    const { log, clock } = runs.ports;
    let reads = 0;
    const lagging: RunLog = {
      append: (...args) => log.append(...args),
      read: async (...args) => {
        const { events, tail, batchTails } = await log.read(...args);
        const isFirst = ++reads === 1;
        return { events: isFirst ? events.slice(0, 2) : events, tail, batchTails };
      },
      follow: (...args) => log.follow(...args),
    };
    await using _ = runs.applying({ ...runs.ports, log: lagging });
    await runs.settled();
    expect((await runs.read(id))?.state).toBe(PENDING);
    await clock.advance(60_000);
    await runs.settled();
    expect((await runs.read(id))?.state).toBe(APPROVED);
  });

  test.each<[string, Asking]>([
    ["of another tenant", { tenant: "other" }],
    ["of another agent", { agentId: "seller" }],
    ["of another revision", { agentRevision: 4 }],
    ["of another agent that has the same id and revision", { instructions: "Pay everyone." }],
    ["of another tool", { tool: "mail" }],
    ["whom its maker may not decide", { approval: { excludedSubjects: ["ada"] } }],
    ["with a file that nobody has seen with it", { approval: { content: fileOf("a") } }],
    ["that was requested again", { approval: { supersedes: "run_granted0009-3-0" } }],
    [
      "that needs more people",
      { approval: { alternatives: [{ name: "1", approvals: 2, denials: 1 }] } },
    ],
    [
      "that people are deciding",
      { approval: { votes: [{ decision: { approved: false, decidedBy: "eve" } }] } },
    ],
  ])("decides no call %s", async (_name, asking) => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay");
    const id = await runs.asks(asking);
    await using _ = runs.applying();
    await runs.settled();
    expect((await runs.read(id, asking.tenant))?.state).toBe(PENDING);
    expect((await runs.grant())?.uses).toEqual([]);
  });

  test("decides calls that name files only with the content that the person saw", async () => {
    const runs = await GrantedRuns.open();
    const asks = (content?: ReturnType<typeof fileOf>) =>
      runs.asks({ approval: content ? { content } : {} });
    await runs.grants(await asks(fileOf("a")), "pay");
    const same = [await asks(fileOf("a")), await asks(fileOf("", "absent")), await asks()];
    const others = [await asks(fileOf("b")), await asks(fileOf("", "unreadable"))];
    const expected = [APPROVED, APPROVED, APPROVED, PENDING, PENDING];
    expect(await statesAfter(runs, [...same, ...others])).toEqual(expected);
  });

  test("for a run or a thread decides no call outside of it", async () => {
    for (const scope of [GrantScope.RUN, GrantScope.THREAD]) {
      const runs = await GrantedRuns.open();
      const first = await runs.asks({ threadId: "t1" });
      await runs.grants(first, "pay", { scope });
      const ids = [await runs.asks({ threadId: "t1" }), await runs.asks({ threadId: "t2" })];
      const inThread = scope === GrantScope.THREAD ? APPROVED : PENDING;
      expect(await statesAfter(runs, ids)).toEqual([inThread, PENDING]);
    }
  });

  test("of one alternative decides only calls to which that applies", async () => {
    const runs = await GrantedRuns.open();
    const small = { name: "small", people: ["ada"], approvals: 1, denials: 1 };
    const large = { name: "large", people: ["ada", "eve"], approvals: 1, denials: 1 };
    await runs.grants(await runs.asks({ approval: { alternatives: [small] } }), "pay");
    const ids = [
      await runs.asks({ approval: { alternatives: [large] } }),
      await runs.asks({ approval: { alternatives: [large, small] } }),
    ];
    expect(await statesAfter(runs, ids)).toEqual([PENDING, APPROVED]);
    expect((await runs.read(ids[1] ?? ""))?.votes).toMatchObject([{ countsFor: ["small"] }]);
  });

  test("that a process reserved before it crashed is used by the next one, once", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { maxUses: 1 });
    const id = await runs.asks();
    const { log } = runs.ports;
    const lost = new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store does not answer");
    const failing: RunLog = {
      append: () => Promise.reject(lost),
      read: (...args) => log.read(...args),
      follow: (...args) => log.follow(...args),
    };
    await (async () => {
      await using _ = runs.applying({ ...runs.ports, log: failing });
      await runs.settled();
    })();
    expect((await runs.grant())?.uses).toHaveLength(1);
    expect((await runs.read(id))?.state).toBe(PENDING);
    expect(await statesAfter(runs, [id])).toEqual([APPROVED]);
    expect((await runs.grant())?.uses).toHaveLength(1);
  });

  test("gives back a use whose approval a person closed first", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { maxUses: 1 });
    const [row] = await runs.ports.grants.list("", never);
    const id = await runs.asks({ approval: { state: REJECTED } });
    const grant = row?.record;
    if (grant === undefined) throw new Error("there is no grant");
    const reserved = { ...grant, uses: [{ approvalId: id, runId: "r" }] };
    await runs.ports.grants.put(row?.key ?? "", reserved as typeof grant, never);
    const next = await runs.asks();
    await statesAfter(runs, []);
    expect((await runs.grant())?.uses.map(({ approvalId }) => approvalId)).not.toContain(id);
    expect(await statesAfter(runs, [next])).toEqual([APPROVED]);
  });

  test("keeps the use of an approval that another process has decided, however old the log is that one reads", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { maxUses: 1 });
    const expiresAt = timestampFromMs(noon + 60_000);
    const id = await runs.asks({ approval: { expiresAt } });
    const { log } = runs.ports;
    const old = await log.read(
      { tenant: ada.tenant, run: id.split("-")[0] ?? "" },
      emptyTail,
      never,
    );
    expect(await statesAfter(runs, [id])).toEqual([APPROVED]);
    const delayed: RunLog = {
      append: (...args) => log.append(...args),
      read: () => Promise.resolve(old),
      follow: (...args) => log.follow(...args),
    };
    await runs.ports.clock.advance(60_000);
    await using _ = runs.applying({ ...runs.ports, log: delayed });
    await runs.settled();
    expect((await runs.grant())?.uses).toMatchObject([{ approvalId: id }]);
  });

  test("decides an approval that waits when a use becomes free", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay", { maxUses: 1 });
    const [row] = await runs.ports.grants.list("", never);
    if (row === undefined) throw new Error("there is no grant");
    const [closing, waiting] = [await runs.asks(), await runs.asks()];
    const use = create(GrantUseSchema, { approvalId: closing, runId: "r" });
    await runs.ports.grants.put(
      row.key,
      create(GrantSchema, { ...row.record, uses: [use] }),
      never,
    );
    await runs.ports.inbox.delete(`${ada.tenant}.${closing}`, never);
    await using _ = runs.applying();
    await runs.settled();
    expect((await runs.read(waiting))?.state).toBe(PENDING);
    const closed = create(ApprovalSchema, {
      approvalId: closing,
      agentId: "buyer",
      state: REJECTED,
    });
    await runs.ports.inbox.put(`${ada.tenant}.${closing}`, closed, never);
    await runs.settled();
    expect((await runs.read(waiting))?.state).toBe(APPROVED);
  });

  test("is not applied again once the key of its tenant was deleted", async () => {
    const runs = await GrantedRuns.open();
    await runs.grants(await runs.asks(), "pay");
    await runs.asks();
    const { log } = runs.ports;
    let reads = 0;
    const sealed: RunLog = {
      append: (...args) => log.append(...args),
      read: () => {
        reads++;
        return Promise.reject(tenantKeyDeleted(ada.tenant));
      },
      follow: (...args) => log.follow(...args),
    };
    await using _ = runs.applying({ ...runs.ports, log: sealed });
    await runs.settled();
    await runs.ports.clock.advance(60_000);
    await runs.settled();
    expect(reads).toBe(1);
  });
});
