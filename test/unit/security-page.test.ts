import { describe, expect, test } from "vitest";
import { allAttacks } from "../adversarial/attacks/all-attacks.ts";
import { driverNames } from "../adversarial/support/driver-name.ts";
import { statedRows } from "../adversarial/support/verdict-table.ts";

const rows = statedRows();

describe("docs/security.md", () => {
  test("lists every attack once, with its code's description", () => {
    const listed = rows.map(({ id, attempt, promise }) => ({ id, attempt, promise }));
    const made = allAttacks.map(({ id, attempt, promise }) => ({ id, attempt, promise }));
    expect(listed).toEqual(made);
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });

  test.each(driverNames)("states what %s stops, and why it does not stop the rest", (driver) => {
    const admitted = allAttacks.map(({ id, admitted }) => [id, admitted?.[driver]]);
    const listed = rows.map(({ id, cells: { [driver]: cell = "" } }) => [
      id,
      /^not stopped: (.+)$/.exec(cell)?.[1],
    ]);
    expect(listed).toEqual(admitted);
    const others = rows.map(({ cells }) => cells[driver] ?? "");
    expect(others.filter((cell) => !/^(stopped|bounded|not stopped: .+)$/.test(cell))).toEqual([]);
  });

  test("every attack has a control that shows its effect without protection, or a reason for having none", () => {
    const unexplained = allAttacks.filter(({ control: { where, why } }) =>
      ["within", "none"].includes(where) ? why === undefined : false,
    );
    expect(unexplained.map(({ id }) => id)).toEqual([]);
  });
});
