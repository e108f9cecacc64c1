import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

test("the policy of the page is valid, and that of the examples", () => {
  const [, example = ""] = /^```yaml\n(rules:[\s\S]*?)^```/m.exec(read("docs/security.md")) ?? [];
  const file = read("examples/policy.yaml");
  expect(parsePolicyFile(example, "page").rules.length).toBeGreaterThan(3);
  expect(file.slice(file.indexOf("rules:"))).toBe(example);
});
