import process from "node:process";
import { defineConfig } from "vitest/config";

const unit = [
  "packages/*/src/**/*.test.ts",
  "services/*/src/**/*.test.ts",
  "cli/src/**/*.test.ts",
  "sdk/typescript/src/**/*.test.ts",
  "test/unit/**/*.test.ts",
  "scripts/**/*.test.ts",
];
/** Each of these files starts its own servers in its own folders, and measures no time, so that two can run at once. */
const component = [
  // In memory, but the longest of all.
  "test/system/protocol.test.ts",
  "packages/!(sandbox)/test/**/*.test.ts",
  "services/{gateway,approvals,runtime}/test/**/*.test.ts",
  "cli/test/**/*.test.ts",
  "test/parity/**/*.test.ts",
];
/** These start whole deployments, or sandboxes that no other test looks at. Two run at once. */
const deployments = [
  "test/system/!(demo|long-run|protocol|standstill|takeover|toolhost-loss).test.ts",
  "test/clients/**/*.test.ts",
  "test/k8s/**/*.test.ts",
  "services/toolhost/test/!(sandbox-loss|toolhost-loss|session-place).test.ts",
];
/** These load the machine, need an idle one, or compare what is left on it before and after. */
const system = [
  "packages/sandbox/test/**/*.test.ts",
  "services/toolhost/test/{sandbox-loss,toolhost-loss,session-place}.test.ts",
  "test/system/{demo,long-run,standstill,takeover,toolhost-loss}.test.ts",
  "test/{chaos,cluster,adversarial,integration}/**/*.test.ts",
];
/** These set process-wide state, such as the global tracer. */
const isolated = ["packages/platform/test/rpc-spans.test.ts", "test/system/local-traces.test.ts"];

const slow = {
  testTimeout: 120_000,
  hookTimeout: 60_000,
  // Few modules are imported more than once: loading them for every file costs 45 seconds of processor time.
  isolate: false,
  // CI retries a failed test once, and reports by name what passed only then. Nightly runs retry nothing.
  retry: process.env["CI"] === undefined || process.env["REEVE_NIGHTLY"] !== undefined ? 0 : 1,
  // The default of one second is too short on a machine with two busy processors.
  expect: { poll: { timeout: 10_000 } },
};

export default defineConfig({
  test: {
    projects: [
      {
        // No unit test changes what is global, so none needs a process of its own.
        test: {
          name: "unit",
          include: unit,
          testTimeout: 30_000,
          isolate: false,
          maxWorkers: "100%",
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...slow,
          name: "component",
          include: component,
          exclude: isolated,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...slow,
          name: "deployments",
          include: deployments,
          exclude: isolated,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...slow,
          name: "system",
          include: system,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...slow,
          name: "isolated",
          include: isolated,
          isolate: true,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
