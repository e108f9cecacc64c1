import { expect, test } from "vitest";
import { containsPathBelow } from "./contains-path.ts";

test.each([
  'join("/context/cli/src", name)',
  "await import('file:///context/cli/src/main.ts')",
  "//#region /context/cli/src/main.ts",
  "at run (/context/cli/src/main.ts:1:2)",
])("%s contains a path below /context", (text) => {
  expect(containsPathBelow(text, "/context")).toBe(true);
});

test.each([
  "//#region cli/src/context.ts",
  "//#region node_modules/@opentelemetry/api/dist/context/context.cjs",
  'require("../context/context.js")',
  'require("@scope/context/index.js")',
  'join("/contextual/a.ts")',
  'join("/srv/context/a.ts")',
])("%s contains no path below /context", (text) => {
  expect(containsPathBelow(text, "/context")).toBe(false);
});

test("dots in the name of a folder are characters", () => {
  expect(containsPathBelow('"/srv/reeve.1/a.ts"', "/srv/reeve.1")).toBe(true);
  expect(containsPathBelow('"/srv/reeve-1/a.ts"', "/srv/reeve.1")).toBe(false);
});
