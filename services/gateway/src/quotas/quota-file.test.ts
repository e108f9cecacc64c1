import { expect, test } from "vitest";
import { parseQuotaFile } from "./quota-file.ts";

const quotas = (...list: readonly object[]) => parseQuotaFile(JSON.stringify({ quotas: list }));

test("a quota applies to whom it names, and to each tenant by default", () => {
  const [all, some] = quotas(
    { name: "all", open_runs: 5 },
    { name: "some", tenants: ["acme"], subjects: ["ann"], per: "subject", streams: 2 },
  );
  expect(all).toMatchObject({ name: "all", per: "tenant", openRuns: 5 });
  expect([all?.tenants, all?.subjects]).toEqual([undefined, undefined]);
  expect(some).toMatchObject({ per: "subject", streams: 2 });
  expect([some?.tenants, some?.subjects]).toEqual([new Set(["acme"]), new Set(["ann"])]);
});

test.each([
  ["a text that is not JSON", "quotas:", "is not JSON"],
  ["a list", "[]", "expected object"],
  ["an unknown field", `{"quotas": [], "limits": []}`, "limits"],
  ["a misspelled limit", `{"quotas": [{"name": "a", "open_run": 5}]}`, "open_run"],
  ["a quota without a limit", `{"quotas": [{"name": "a"}]}`, "limits nothing"],
  ["a name that cannot be a key", `{"quotas": [{"name": "a b", "streams": 1}]}`, "is not a name"],
  ["no runs at all", `{"quotas": [{"name": "a", "open_runs": 0}]}`, "quotas[0].open_runs"],
  ["a part of a run", `{"quotas": [{"name": "a", "runs_per_day": 1.5}]}`, "quotas[0].runs_per_day"],
  ["no cost", `{"quotas": [{"name": "a", "cost_per_day_usd": 0}]}`, "quotas[0].cost_per_day_usd"],
  ["a negative size", `{"quotas": [{"name": "a", "artifact_bytes": -1}]}`, "artifact_bytes"],
  ["no tenants", `{"quotas": [{"name": "a", "tenants": [], "streams": 1}]}`, "quotas[0].tenants"],
  ["a tenant in capitals", `{"quotas": [{"name": "a", "tenants": ["A"], "streams": 1}]}`, "tenant"],
  [
    "two quotas with one name",
    `{"quotas": [{"name": "a", "streams": 1}, {"name": "a", "streams": 2}]}`,
    "same name",
  ],
])("a file with %s is refused", (_, text, problem) => {
  expect(() => parseQuotaFile(text)).toThrow(problem);
});
