import { expect, test } from "vitest";
import { Inbox, carryRun } from "./carry-run.ts";
import type { CarriedRun, OwnerOutcome, OwnedRun, RunDispatch } from "./contract.ts";

const start: CarriedRun = { tenant: "acme", run: "run_1", attempts: 0 };
const dispatch = (sequence: number): RunDispatch => ({
  sequence,
  afterSequence: sequence * 10,
  traceparent: "",
});
const parked: OwnerOutcome = { kind: "parked", attempts: 1 };
const ended: OwnerOutcome = { kind: "ended", attempts: 1 };

/** What happens while the workflow waits: dispatches arrive, or nothing, so that its time is over. */
type Arrival = readonly number[];

interface Played {
  readonly owners: readonly OwnedRun[];
  readonly waitsMs: readonly number[];
  readonly next: CarriedRun | undefined;
}

/** Plays a workflow whose owners leave the run as listed. `during`: the dispatches that arrive while each owner has the run. */
async function play(
  outcomes: readonly OwnerOutcome[],
  arrivals: readonly Arrival[],
  { during = [], fullAfter = Infinity, from = start }: PlayOptions = {},
): Promise<Played> {
  const inbox = new Inbox();
  const owners: OwnedRun[] = [];
  const waitsMs: number[] = [];
  const left = [...arrivals];
  const receive = (some: Arrival = []) => {
    for (const sequence of some) inbox.receive(dispatch(sequence));
  };
  const next = await carryRun(from, inbox, {
    async own(owned) {
      receive(during[owners.length]);
      owners.push(owned);
      const outcome = outcomes[owners.length - 1];
      if (outcome === undefined) throw new Error("the run has more owners than expected");
      return outcome;
    },
    async wait(isOver, timeoutMs) {
      waitsMs.push(timeoutMs);
      if (!isOver()) receive(left.shift());
    },
    isFull: () => owners.length >= fullAfter,
  });
  return { owners, waitsMs, next };
}

interface PlayOptions {
  readonly during?: readonly Arrival[];
  readonly fullAfter?: number;
  readonly from?: CarriedRun;
}

const sequencesOf = ({ owners }: Played) => owners.map((owned) => owned.dispatch.sequence);

test("a workflow waits for a dispatch, gives the run to an owner, and ends with it", async () => {
  const played = await play([ended], [[7]]);
  expect(played.owners).toEqual([
    { tenant: "acme", run: "run_1", dispatch: dispatch(7), attempts: 0 },
  ]);
  expect(played.next).toBeUndefined();
});

test("a parked run gets an owner for its next dispatch only, and for the last one of several", async () => {
  const played = await play([parked, parked, ended], [[1], [5, 4], [9]]);
  expect(sequencesOf(played)).toEqual([1, 5, 9]);
  expect(played.owners.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
});

test("a dispatch that arrives while a run has an owner is taken up when it parks", async () => {
  const played = await play([parked, ended], [[1]], { during: [[3]] });
  expect(sequencesOf(played)).toEqual([1, 3]);
});

test("a message that arrives again does not count as another", async () => {
  const checks: OwnerOutcome[] = [parked, parked, ended];
  const played = await play(checks, [[1], [1], [2]]);
  expect(sequencesOf(played)).toEqual([1, 1, 2]);
});

// Requirement: DUR-4
test("a run that was released continues under its dispatch with a higher attempt, which fences off the owner before", async () => {
  const again: OwnerOutcome = { kind: "again", delayMs: 250, attempts: 4 };
  const played = await play([again, ended], [[1], [2]]);
  expect(played.owners.map(({ dispatch: { sequence }, attempts }) => [sequence, attempts])).toEqual(
    [
      [1, 0],
      [1, 4],
    ],
  );
  expect(played.owners[1]?.dispatch.afterSequence).toBe(20);
  expect(played.waitsMs[1]).toBe(250);
});

test("a parked run is checked when its time to wake has come", async () => {
  const timed: OwnerOutcome = { kind: "parked", checkMs: 90_000, attempts: 1 };
  const played = await play([timed, ended], [[1], []]);
  expect(sequencesOf(played)).toEqual([1, 1]);
  expect(played.waitsMs).toEqual([86_400_000, 90_000]);
});

test("a run that another worker has is checked until it has ended", async () => {
  const elsewhere: OwnerOutcome = { kind: "elsewhere", attempts: 2 };
  const played = await play([elsewhere, elsewhere, ended], [[1], [], []]);
  expect(sequencesOf(played)).toEqual([1, 1, 1]);
  expect(played.waitsMs.slice(1)).toEqual([30_000, 30_000]);
});

test("a workflow whose history is full continues as a new one, which knows the dispatch that came meanwhile", async () => {
  const first = await play([parked], [[1]], { during: [[6]], fullAfter: 1 });
  expect(first.next).toEqual({
    ...start,
    dispatch: dispatch(1),
    attempts: 1,
    pending: dispatch(6),
  });
  const second = await play([parked, ended], [], { from: first.next ?? start });
  expect(sequencesOf(second)).toEqual([1, 6]);
});
