import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { filterOf } from "./filter-of.ts";
import { readRunsSearch } from "./runs-search.ts";

test("an address with anything in it is read as the filters that it has", () => {
  const search = { status: ["failed"], agent: 7, text: "", cost: "1", since: "never", other: 1 };
  expect(readRunsSearch(search)).toEqual({ status: ["failed"], agent: "7" });
  expect(readRunsSearch({ status: "failed", cost: -1, since: "24h" })).toEqual({
    status: ["failed"],
    since: "24h",
  });
  expect(readRunsSearch({ cost: 0.5, parts: "some" })).toEqual({ cost: 0.5 });
  expect(readRunsSearch({ parts: "failed" })).toEqual({ parts: "failed" });
});

test("the filters of an address become the filter of a request", () => {
  const search = { status: ["running", "no such"], user: "ann", label: "team=a=b", cost: 2 };
  expect(filterOf(search, 0)).toEqual({
    agentId: "",
    threadId: "",
    startedBy: "ann",
    text: "",
    minCostUsd: 2,
    hasFailedSubtasks: false,
    statuses: [RunStatus.RUNNING, RunStatus.STARTING],
    labels: { team: "a=b" },
  });
  const recent = filterOf({ since: "1h", label: "team" }, 3_600_000 + 301_000);
  expect(recent).toMatchObject({ createdAfter: timestampFromMs(300_000), labels: { team: "" } });
  expect(filterOf({ label: "=x" }, 0)).toMatchObject({ labels: {} });
});
