import { expect, test } from "vitest";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { snapshotNames } from "@reeve/jetstream/objects/workspace-store";
import {
  isUnsaved,
  newRecord,
  withChanges,
  withSnapshot,
  withTakeover,
} from "./workspace-record.ts";

const placement = { holder: "a", place: "p", folder: "run_1" };
const empty = newRecord({ tenant: "acme", id: "run_1" }, placement, 0);
const change = (at: number) => ({ callId: `call-${at}`, tool: "write_file", host: "a" });

/** A snapshot whose digest has the given first byte. */
const stored = (at: number) => ({
  name: `acme/run_1/${at.toString(16).padStart(2, "0")}${"00".repeat(31)}`,
  bytes: 1,
  savedMs: at,
  isDisturbed: false,
  unsavedMore: 0,
});

/** Returns the record after a call that may write, or a client, and a snapshot. */
function saved(
  record: WorkspaceRecord,
  at: number,
  { callId = `call-${at}`, isDisturbed = false, maxKept = 10 } = {},
): WorkspaceRecord {
  const next = withChanges(record, [{ ...change(at), callId }], 0);
  const { revision, unsaved: covered } = next;
  return withSnapshot(next, { ...stored(at), isDisturbed, revision, covered }, maxKept);
}

const revisions = ({ snapshots }: WorkspaceRecord) => snapshots.map(({ revision }) => revision);

test("a record keeps the exact snapshots of the revisions that results name, up to a number", () => {
  let record = saved(empty, 1);
  record = saved(record, 2, { callId: "" });
  record = saved(record, 3, { isDisturbed: true });
  record = saved(record, 4);
  expect(revisions(record)).toEqual([1, 4]);
  expect([...snapshotNames(record)]).toEqual([stored(1).name, stored(4).name]);
  expect(revisions(saved(record, 5, { maxKept: 2 }))).toEqual([4, 5]);
  const none = saved(record, 5, { maxKept: 0 });
  expect([...snapshotNames(none)]).toEqual([stored(5).name]);
});

test("a record from which a snapshot was lost does not refer to it", () => {
  const record = saved(saved(empty, 1), 2);
  const taken = withTakeover(record, placement, true, 0);
  expect(taken).toMatchObject({ snapshot: "", lostSnapshot: true });
  expect([...snapshotNames(taken)]).toEqual([stored(1).name]);
});

test("an unnamed change that starts while a snapshot is made stays unsaved", () => {
  const full = withChanges(
    empty,
    Array.from({ length: 66 }, (_, at) => change(at)),
    0,
  );
  const { revision, unsaved: covered, unsavedMore } = full;
  const during = withChanges(full, [change(66)], 0);
  const snapshot = { ...stored(1), isDisturbed: true, revision, covered, unsavedMore };
  const after = withSnapshot(during, snapshot, 10);
  expect(after).toMatchObject({ unsaved: [], unsavedMore: 1, savedRevision: 66 });
  expect(isUnsaved(after)).toBe(true);
});
