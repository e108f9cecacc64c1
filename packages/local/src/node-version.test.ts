import { expect, test } from "vitest";
import { publishedLibraries } from "../../../scripts/release/published.ts";
import { assertNode } from "./node-version.ts";

test("an older Node is refused by name, as the manifest says", () => {
  const local = publishedLibraries.find(({ name }) => name === "@reeve/local");
  expect(local?.manifest["engines"]).toEqual({ node: ">=24" });
  expect(() => assertNode("24.0.0")).not.toThrow();
  expect(() => assertNode("22.19.0")).toThrow(
    "@reeve/local needs Node 24 or later, and this is Node 22.19.0",
  );
});
