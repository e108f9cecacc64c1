import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isScreen, mayBeMistyped } from "./console-paths.ts";

const router = join(import.meta.dirname, "../../../../console/src/router.tsx");

test("the address of every screen of the console leads to its page, also after a reload", () => {
  const paths = [...readFileSync(router, "utf8").matchAll(/path: "([^"]*)"/g)].map(
    ([, path]) => path ?? "",
  );
  expect(paths).toContain("/runs");
  expect(paths.filter((path) => !isScreen(path))).toEqual([]);
});

test("no address of the API leads to the page", () => {
  for (const path of ["/v1/runs", "/reeve.run.v1.RunService/ListRuns", "/healthz", "/runsx"]) {
    expect(isScreen(path)).toBe(false);
  }
  for (const path of ["/v1/runs", "/reeve.run.v1.RunService/ListRuns", "/openapi.json"]) {
    expect(mayBeMistyped(path)).toBe(false);
  }
  expect(mayBeMistyped("/runsx")).toBe(true);
});
