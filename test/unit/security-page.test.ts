import { describe, expect, test } from "vitest";
import { allAttacks } from "../adversarial/attacks/all-attacks.ts";
import { driverNames } from "../adversarial/support/driver-name.ts";
import { statedRows } from "../adversarial/support/verdict-table.ts";

const rows = statedRows();

describe("docs/security.md", () => {
  test("has every attack once, as it is made", () => {
    const told = rows.map(({ id, attempt, promise }) => ({ id, attempt, promise }));
    const made = allAttacks.map(({ id, attempt, promise }) => ({ id, attempt, promise }));
    expect(told).toEqual(made);
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });

  test.each(driverNames)("says what %s stops, and of what it does not stop why", (driver) => {
    const admitted = allAttacks.map(({ id, admitted }) => [id, admitted?.[driver]]);
    const told = rows.map(({ id, cells: { [driver]: cell = "" } }) => [
      id,
      /^not stopped: (.+)$/.exec(cell)?.[1],
    ]);
    expect(told).toEqual(admitted);
    const others = rows.map(({ cells }) => cells[driver] ?? "");
    expect(others.filter((cell) => !/^(stopped|bounded|not stopped: .+)$/.test(cell))).toEqual([]);
  });

  test("tells of each attack what shows that it would do harm, or why nothing can", () => {
    const silent = allAttacks.filter(({ control: { where, why } }) =>
      ["within", "none"].includes(where) ? why === undefined : false,
    );
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});
