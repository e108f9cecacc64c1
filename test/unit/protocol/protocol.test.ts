import { test } from "vitest";
import { explore } from "./explore.ts";
import { approving, cancelling, fresh, messaging, parked, sweeping } from "./scenarios.ts";

const F = Number(process.env["F"] ?? 1);
test.each([
  ["fresh", fresh({}, sweeping)],
  ["hitl fresh + approve", fresh({ tool: "approved" }, approving())],
  ["parked approve sweeping", parked({}, approving(), sweeping)],
  ["parked approve message", parked({}, approving(), messaging())],
  ["parked cancel", parked({}, approving(), cancelling)],
  ["fresh cancel", fresh({ tool: "plain", workers: 1 }, cancelling)],
  ["fresh message", fresh({}, messaging())],
  ["tool plain 2 hosts", fresh({ tool: "plain", workers: 1, toolhosts: 2 })],
  ["tool idempotent 2 hosts", fresh({ tool: "idempotent", workers: 1, toolhosts: 2 })],
  ["tool plain 2 workers", fresh({ tool: "plain" })],
])(
  "%s",
  async (name, scenario) => {
    const at = performance.now();
    const seen = await explore(() => scenario(), { faults: F, worlds: 30000 });
    console.log(name, seen, performance.now() - at);
  },
  60_000,
);
