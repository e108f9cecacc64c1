import { readFileSync } from "node:fs";
import { join } from "node:path";
import { approvalsConfig } from "@reeve/approvals/config";
import { gatewayConfig } from "@reeve/gateway/config";
import { runtimeConfig } from "@reeve/runtime/config";
import { toolhostConfig } from "@reeve/toolhost/config";
import { describe, expect, test } from "vitest";

const docs = join(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "durability.md"), "utf8");
const promises = rowsOf("What each promise rests on, and what holds it");

/** Returns the cells of the first table below a heading, without its header. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const lines = section.split("\n## ", 1).join("").split("\n");
  return lines
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, "").trim()))
    .slice(2);
}

describe("docs/durability.md", () => {
  test("names for each promise what it rests on, and at least two tests that exist", () => {
    expect(promises.length).toBeGreaterThan(20);
    const missing = promises.flatMap(([promise = "", setting = "", tests = ""]) => {
      const cited = [...tests.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
      const absent = cited
        .filter(
          ([, title = "", path = ""]) => !readFileSync(join(docs, path), "utf8").includes(title),
        )
        .map(([, title]) => `${promise}: no test "${title}"`);
      if (setting === "" || cited.length < 2)
        absent.push(`${promise}: has no setting, or one test`);
      return absent;
    });
    expect(missing).toEqual([]);
  });

  test("names tests for each guarantee", () => {
    const guarantees = rowsOf("Guarantees").map(([guarantee]) => guarantee);
    expect(guarantees).toHaveLength(9);
    expect(promises.map(([promise]) => promise)).toEqual(expect.arrayContaining(guarantees));
  });

  test("states the defaults of the settings that it names", () => {
    const internal = { REEVE_INTERNAL_TOKEN: "internal-token-of-a-test" };
    const gateway = gatewayConfig.parse({ ...internal, REEVE_TOKENS: "token-of-ann=acme/ann" });
    const services = [
      gateway,
      runtimeConfig.parse({}),
      toolhostConfig.parse({}),
      approvalsConfig.parse(internal),
    ];
    expect(services.map((config) => config.REEVE_ACK_WAIT_MS)).toEqual(services.map(() => 15_000));
    expect(page).toContain("after 15 seconds of silence (`REEVE_ACK_WAIT_MS`)");
    expect(gateway.REEVE_STORE_RESERVE_BYTES).toBe(16 * 1024 * 1024);
  });
});
