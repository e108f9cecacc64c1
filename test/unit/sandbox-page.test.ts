import { readFileSync } from "node:fs";
import { join } from "node:path";
import { driverNames } from "@reeve/sandbox/drivers";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../docs/sandbox.md"), "utf8");

test("docs/sandbox.md names the drivers of `auto` in the order in which they are tried", () => {
  const [row = ""] = page.split("\n").filter((line) => line.startsWith("| `auto`"));
  const named = [...row.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name).slice(1);
  // Without isolation, `unsafe-local` is never chosen.
  expect(named).toEqual(driverNames.filter((name) => name !== "unsafe-local"));
});
