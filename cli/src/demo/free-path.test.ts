import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePath } from "./free-path.ts";

test("the report of the demo gets a name that no file of the user has", () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-free-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const report = join(folder, "report.md");
  expect(freePath(report)).toBe(report);
  for (const number of [2, 3]) {
    writeFileSync(number === 2 ? report : join(folder, "report-2.md"), "mine");
    expect(freePath(report)).toBe(join(folder, `report-${number}.md`));
  }
});
