import { expect, test } from "vitest";
import { isUnsaved, newRecord, withChanges, withSnapshot } from "./workspace-record.ts";

const placement = { holder: "a", place: "p", folder: "run_1" };
const empty = newRecord({ tenant: "acme", id: "run_1" }, placement, 0);
const change = (at: number) => ({ callId: `call-${at}`, tool: "write_file", host: "a" });

test("an unnamed change that starts while a snapshot is made stays unsaved", () => {
  const full = withChanges(
    empty,
    Array.from({ length: 66 }, (_, at) => change(at)),
    0,
  );
  const { revision, unsaved: covered, unsavedMore } = full;
  const during = withChanges(full, [change(66)], 0);
  const saved = withSnapshot(during, { name: "s", bytes: 1, revision, covered, unsavedMore });
  expect(saved).toMatchObject({ unsaved: [], unsavedMore: 1, savedRevision: 66 });
  expect(isUnsaved(saved)).toBe(true);
});
