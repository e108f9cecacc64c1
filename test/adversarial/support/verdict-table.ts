import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { categories } from "../attacks/all-attacks.ts";
import type { Attack, Verdict } from "./attack.ts";
import type { DriverName } from "./driver-name.ts";
import { driverNames } from "./driver-name.ts";

const page = join(import.meta.dirname, "../../../docs/security.md");
const [begin, end] = ["<!-- attacks: begin -->", "<!-- attacks: end -->"];

export type Found = ReadonlyMap<DriverName, ReadonlyMap<string, Verdict>>;

interface Row {
  readonly id: string;
  readonly attempt: string;
  readonly promise: string;
  /** Verdict by driver, with the reason if the attack is not stopped. */
  readonly cells: Readonly<Record<string, string>>;
}

/** Returns the rows of the table in docs/security.md. */
export function statedRows(): readonly Row[] {
  const [, table = ""] = readFileSync(page, "utf8").split(begin);
  return (table.split(end)[0] ?? "").split("\n").flatMap((line) => {
    const [id = "", attempt = "", promise = "", ...verdicts] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (!/^`[a-z0-9-]+`$/.test(id)) return [];
    const cells = driverNames.map((driver, at) => [driver, verdicts[at] ?? ""] as const);
    return [{ id: id.slice(1, -1), attempt, promise, cells: Object.fromEntries(cells) }];
  });
}

/** Returns the verdicts of a driver in docs/security.md, by attack. */
export function statedVerdicts(driver: DriverName): Readonly<Record<string, string>> {
  return Object.fromEntries(
    statedRows().map(({ id, cells }) => [id, (cells[driver] ?? "").split(":")[0] ?? ""]),
  );
}

/** Returns the text of a cell of the table. */
export function cellOf(attack: Attack, driver: DriverName, verdict: Verdict | undefined): string {
  if (verdict === undefined) return "not tried";
  const reason = attack.admitted?.[driver] ?? (verdict.kind === "not stopped" ? verdict.what : "");
  return verdict.kind === "not stopped" ? `not stopped: ${reason}` : verdict.kind;
}

/** Prints the verdicts as a table to the terminal. */
export function printTable(found: Found): void {
  const drivers = [...found.keys()];
  const widest = Math.max(
    ...categories.flatMap(({ attacks }) => attacks.map(({ id }) => id.length)),
  );
  const line = (first: string, cells: readonly string[]) =>
    [first.padEnd(widest), ...cells.map((cell) => cell.padEnd(12))].join("  ").trimEnd();
  const lines = [line("attack", drivers)];
  for (const { title, attacks } of categories) {
    lines.push("", title);
    for (const attack of attacks) {
      const cells = drivers.map((driver) =>
        cellOf(attack, driver, found.get(driver)?.get(attack.id)),
      );
      lines.push(line(attack.id, cells));
    }
  }
  process.stdout.write(`\n${lines.join("\n")}\n`);
}

/** Returns the verdicts as Markdown. Drivers that were not attacked keep their verdicts on the page. */
export function markdownOf(found: Found): string {
  const before = new Map(statedRows().map((row) => [row.id, row.cells]));
  const sections = categories.map(({ title, attacks }) => {
    const rows = attacks.map((attack) => {
      const cells = driverNames.map((driver) =>
        found.has(driver)
          ? cellOf(attack, driver, found.get(driver)?.get(attack.id))
          : (before.get(attack.id)?.[driver] ?? "not tried"),
      );
      return row([`\`${attack.id}\``, attack.attempt, attack.promise, ...cells]);
    });
    const head = ["attack", "what is tried", "what should hold", ...driverNames];
    return [`### ${title}`, "", row(head), row(head.map(() => "---")), ...rows, ""].join("\n");
  });
  return sections.join("\n");
}

/** Writes the verdicts into docs/security.md if `REEVE_WRITE_SECURITY` is set. Otherwise a test compares the page. */
export function writeTable(found: Found): void {
  if (process.env["REEVE_WRITE_SECURITY"] === undefined) return;
  const text = readFileSync(page, "utf8");
  const [head, rest = ""] = text.split(begin);
  const [, tail = ""] = rest.split(end);
  writeFileSync(page, `${head}${begin}\n\n${markdownOf(found)}\n${end}${tail}`);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "/")).join(" | ")} |`;
}
