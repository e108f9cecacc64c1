import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, WatchApprovalsRequestSchema } from "@reeve/contracts/approval";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import {
  approver,
  numbered,
  numberOf,
  openLists,
  openListsOf,
} from "../../../test/support/listed-approvals.ts";
import { watchApprovals } from "./watch-approvals.ts";

const vote = (decidedBy: string) => ({ decision: { decidedBy, approved: true } });
const never = new AbortController().signal;
const { PENDING, APPROVED, REJECTED, SUPERSEDED } = ApprovalState;
const forMe = { filter: { states: [PENDING], forMe: true } };

type Request = Exclude<
  MessageInitShape<typeof WatchApprovalsRequestSchema>,
  { readonly $typeName: string }
>;
type Ports = Awaited<ReturnType<typeof openLists>>;

/** Watches an inbox as ada. Messages without approvals are left out. */
function watch(ports: Ports, request: Request = {}) {
  const wanted = create(WatchApprovalsRequestSchema, request);
  const messages = watchApprovals(ports, approver("ada"), wanted, never)[Symbol.asyncIterator]();
  let token = "";
  return {
    /** Returns how many approvals the next message has. */
    async message(): Promise<number> {
      const { value } = await messages.next();
      return value?.approvals.length ?? NaN;
    },
    /** The token of the last message. */
    get token(): string {
      return token;
    },
    /** Returns the numbers and the states of the next approvals. */
    async next(): Promise<readonly (readonly [number, ApprovalState])[]> {
      for (;;) {
        const { value } = await messages.next();
        if (value === undefined) throw new Error("the watch ended");
        const { approvals } = value;
        token = value.resumeToken;
        if (approvals.length > 0) {
          return approvals.map((each: Approval) => [numberOf(each), each.state]);
        }
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await messages.return?.();
    },
  };
}

const putInto = (ports: Ports) => (approval: Approval) =>
  ports.inbox.put(`acme.${approval.approvalId}`, approval, never);

test("a watch with a filter has what matches, and once more what ceases to match", async () => {
  const ports = await openLists(numbered(1), numbered(2, { excludedSubjects: ["ada"] }));
  await using watched = watch(ports, forMe);
  const put = putInto(ports);
  expect(await watched.next()).toEqual([[1, PENDING]]);
  await put(numbered(2, { excludedSubjects: ["ada"], state: APPROVED, revision: 1 }));
  await put(numbered(1, { state: REJECTED, revision: 1 }));
  expect(await watched.next()).toEqual([[1, REJECTED]]);
  // It was shown for the last time.
  await put(numbered(1, { state: SUPERSEDED, revision: 2 }));
  await put(numbered(3));
  expect(await watched.next()).toEqual([[3, PENDING]]);
});

test("a watch for a person who has voted has the approval until it is closed", async () => {
  const ports = await openLists(numbered(1));
  await using watched = watch(ports, forMe);
  const states = [await watched.next()];
  for (const change of [
    numbered(1, { votes: [vote("ada")], revision: 1 }),
    numbered(1, { votes: [vote("ada"), vote("eve")], revision: 2 }),
    numbered(1, { state: APPROVED, revision: 3 }),
  ]) {
    await putInto(ports)(change);
    states.push(await watched.next());
  }
  expect(states.flat()).toEqual([
    [1, PENDING],
    [1, PENDING],
    [1, PENDING],
    [1, APPROVED],
  ]);
});

/** Counts the requests of an inbox. */
class CountedInbox extends MemoryTable<Approval> {
  readonly requests: string[] = [];

  override get(...given: Parameters<MemoryTable<Approval>["get"]>) {
    this.requests.push("get");
    return super.get(...given);
  }

  override list(...given: Parameters<MemoryTable<Approval>["list"]>) {
    this.requests.push("list");
    return super.list(...given);
  }

  override watch(...given: Parameters<MemoryTable<Approval>["watch"]>) {
    this.requests.push("watch");
    return super.watch(...given);
  }

  override position(...given: Parameters<MemoryTable<Approval>["position"]>) {
    this.requests.push("position");
    return super.position(...given);
  }

  override changesAfter(...given: Parameters<MemoryTable<Approval>["changesAfter"]>) {
    this.requests.push("changes");
    return super.changesAfter(...given);
  }
}

test("1,000 pending approvals reach a watch in ten messages, with one request to the store", async () => {
  const inbox = new CountedInbox();
  const filled = Array.from({ length: 1_000 }, (_, index) => numbered(index + 1));
  const ports = await openListsOf(inbox, filled);
  await ports.page({});
  const before = inbox.requests.length;
  await using watched = watch(ports);
  const seen = new Set<number>();
  for (let message = 0; message < 10; message++) {
    const approvals = await watched.next();
    expect(approvals).toHaveLength(100);
    for (const [number] of approvals) seen.add(number);
    expect(watched.token === "").toBe(message < 9);
  }
  expect(seen.size).toBe(1_000);
  await putInto(ports)(numbered(1, { state: APPROVED }));
  expect(await watched.next()).toEqual([[1, APPROVED]]);
  expect(inbox.requests.slice(before)).toEqual(["position"]);
});

test("what changes while a watch sends the first approvals is neither lost nor repeated", async () => {
  const ports = await openLists(...Array.from({ length: 150 }, (_, index) => numbered(index + 1)));
  await using watched = watch(ports);
  expect(await watched.next()).toHaveLength(100);
  await putInto(ports)(numbered(1, { state: APPROVED, revision: 1 }));
  await putInto(ports)(numbered(150, { revision: 1 }));
  await putInto(ports)(numbered(151));
  // The index has them.
  await ports.page({});
  const numbers = (await watched.next()).map(([number]) => number);
  expect(numbers).toEqual(Array.from({ length: 51 }, (_, index) => index + 101));
  expect(await watched.next()).toEqual([[1, APPROVED]]);
});

test("a watch resumes after the last message, with the approvals that were closed since", async () => {
  const ports = await openLists(numbered(1), numbered(2), numbered(3));
  const request = { filter: { states: [PENDING] } };
  const token = await (async () => {
    await using watched = watch(ports, request);
    expect(await watched.next()).toHaveLength(3);
    return watched.token;
  })();
  const put = putInto(ports);
  await put(numbered(2, { state: APPROVED, revision: 1 }));
  await put(numbered(4));
  // The index has both.
  await ports.page({});
  await using resumed = watch(ports, { ...request, resumeToken: token });
  expect(await resumed.next()).toEqual([
    [2, APPROVED],
    [4, PENDING],
  ]);
  // What the client cannot have is not sent when it closes.
  await put(numbered(5, { state: REJECTED }));
  await put(numbered(1, { revision: 1 }));
  expect(await resumed.next()).toEqual([[1, PENDING]]);
});

test("a watch of closed approvals begins with none, and searches none of those that wait", async () => {
  const ports = await openLists(...Array.from({ length: 150 }, (_, index) => numbered(index + 1)));
  await using watched = watch(ports, { filter: { states: [APPROVED] } });
  expect(await watched.message()).toBe(0);
  await putInto(ports)(numbered(2, { state: REJECTED, revision: 1 }));
  await putInto(ports)(numbered(1, { state: APPROVED, revision: 1 }));
  expect(await watched.next()).toEqual([[1, APPROVED]]);
});

test.each([{ states: [PENDING] }, { states: [PENDING], forMe: true }, { forMe: true }])(
  "a resumed watch with %j has the end of what its client had, also if it comes later",
  async (filter) => {
    const ports = await openLists(numbered(1), numbered(2));
    const resumeToken = await (async () => {
      await using watched = watch(ports, { filter });
      expect(await watched.next()).toHaveLength(2);
      return watched.token;
    })();
    await using resumed = watch(ports, { filter, resumeToken });
    const put = putInto(ports);
    // The watch has begun when it has this one.
    await put(numbered(3));
    expect(await resumed.next()).toEqual([[3, PENDING]]);
    await put(numbered(1, { state: APPROVED, revision: 1, votes: [vote("ada")] }));
    expect(await resumed.next()).toEqual([[1, APPROVED]]);
  },
);

/** Returns the first message of a watch of ada. */
async function firstOf(ports: Ports, resumeToken: string) {
  const wanted = create(WatchApprovalsRequestSchema, { resumeToken });
  for await (const message of watchApprovals(ports, approver("ada"), wanted, never)) return message;
  throw new Error("the watch ended");
}

test("the first message of a watch that begins anew has no token", async () => {
  const [ports, other] = [await openLists(numbered(1)), await openLists(numbered(2))];
  await using watched = watch(ports);
  await watched.next();
  expect(await firstOf(ports, "")).toEqual({ approvals: [], resumeToken: "" });
  expect(await firstOf(other, watched.token)).toEqual({ approvals: [], resumeToken: "" });
  await putInto(ports)(numbered(1, { revision: 1 }));
  const resumeToken = watched.token;
  expect(await firstOf(ports, resumeToken)).toEqual({ approvals: [], resumeToken });
});

test("a watch that cannot resume has its token without approvals, as no watch that resumes has", async () => {
  const ports = await openLists(numbered(1));
  const other = await openLists(numbered(1));
  await using watched = watch(other);
  await watched.next();
  const wanted = create(WatchApprovalsRequestSchema, { resumeToken: watched.token });
  const messages = watchApprovals(ports, approver("ada"), wanted, never)[Symbol.asyncIterator]();
  const seen: (readonly [number, boolean])[] = [];
  for (let count = 0; count < 3; count++) {
    const { value } = await messages.next();
    seen.push([value?.approvals.length ?? NaN, value?.resumeToken !== ""]);
  }
  expect(seen).toEqual([
    [0, false],
    [1, false],
    [0, true],
  ]);
  await messages.return?.();
});

test("a heartbeat of a watch that resumes has the token of the client, before anything has changed", async () => {
  const ports = await openLists(numbered(1));
  await using watched = watch(ports);
  await watched.next();
  const resumeToken = watched.token;
  const wanted = create(WatchApprovalsRequestSchema, { resumeToken });
  const messages = watchApprovals(ports, approver("ada"), wanted, never)[Symbol.asyncIterator]();
  const same = { done: false, value: { approvals: [], resumeToken } };
  expect(await messages.next()).toEqual(same);
  const heartbeat = messages.next();
  while (ports.clock.sleepers === 0) await new Promise(setImmediate);
  await ports.clock.advance(5_000);
  expect(await heartbeat).toEqual(same);
  await messages.return?.();
});

test("a watch with a token of another inbox begins anew, and one with a text that is no token is refused", async () => {
  const [ports, other] = [await openLists(numbered(1)), await openLists(numbered(2))];
  await using first = watch(ports);
  await first.next();
  const resumeToken = first.token;
  await using anew = watch(other, { resumeToken });
  expect(await anew.next()).toEqual([[2, PENDING]]);
  await using refused = watch(ports, { resumeToken: "bm9uc2Vuc2U" });
  await expect(refused.next()).rejects.toMatchObject({ kind: "invalid" });
});
