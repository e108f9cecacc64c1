import { dirname } from "node:path";
import process from "node:process";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/testing/longest-first.ts";

const unit = [
  "packages/*/src/**/*.test.ts",
  "services/*/src/**/*.test.ts",
  "cli/src/**/*.test.ts",
  "console/src/**/*.test.ts",
  "sdk/typescript/src/**/*.test.ts",
  "test/unit/**/*.test.ts",
  "scripts/**/*.test.ts",
];
/** Each of these files starts its own servers in its own folders, and measures no time, so that several can run at once. */
const component = [
  // In memory, but the longest of all.
  "test/system/protocol.test.ts",
  "packages/!(sandbox)/test/**/*.test.ts",
  "services/{gateway,approvals,runtime}/test/**/*.test.ts",
  "cli/test/**/*.test.ts",
  "test/parity/**/*.test.ts",
  "test/chaos/!(chaos).test.ts",
  "test/cluster/!(cluster).test.ts",
];
/** These start whole deployments or sandboxes, and find what they started by names of their own. Several run at once. */
const deployments = [
  "test/system/!(protocol|standstill).test.ts",
  "test/{clients,console,k8s,adversarial,integration}/**/*.test.ts",
  "packages/sandbox/test/**/*.test.ts",
  "services/toolhost/test/**/*.test.ts",
];
/** These load the machine, or stop processes for so long that a slow machine changes the outcome. */
const system = ["test/system/standstill.test.ts", "test/{chaos/chaos,cluster/cluster}.test.ts"];
/**
 * Of the components and deployments. They wait for processes, containers, and time-outs for much of their time. With four at once, each
 * takes up to twice as long on two processors, and all of them as long as with three.
 */
const atOnce = 3;
/** The tests of the stores, which one server of each supported line must pass. Its line makes no difference to what is sealed. */
const stores = ["packages/jetstream/test/!(replicated-|cluster-|sealed-)*.test.ts"];
/** The server of suites with three servers. It is of a newer line than the one on the PATH. */
const newerNats = process.env["REEVE_NATS_SERVER"];
/** Where components have their stores. Sandboxes have other devices below /dev, so deployments do not use it. */
const componentFolder = process.env["REEVE_COMPONENT_TMPDIR"];
const componentPlace = componentFolder === undefined ? {} : { TMPDIR: componentFolder };
/** These set process-wide state, such as the global tracer. */
const isolated = ["packages/platform/test/rpc-spans.test.ts", "test/system/local-traces.test.ts"];

const slow = {
  // Long enough for a machine that is ten times slower than it should be: its tests must not fail because of that.
  testTimeout: 300_000,
  hookTimeout: 180_000,
  // Few modules are imported more than once: loading them for every file costs 45 seconds of processor time.
  isolate: false,
  // The default of one second is too short on a machine with two busy processors.
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // No unit test changes what is global, so none needs a process of its own.
        test: {
          name: "unit",
          include: unit,
          setupFiles: ["test/support/seed-properties.ts"],
          testTimeout: 30_000,
          isolate: false,
          expect: { poll: { timeout: 10_000 } },
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
          env: componentPlace,
          maxWorkers: atOnce,
          sequence: { groupOrder: 1 },
        },
      },
      ...(newerNats === undefined
        ? []
        : [
            {
              test: {
                ...slow,
                name: "stores on a newer NATS",
                include: stores,
                env: { ...componentPlace, PATH: `${dirname(newerNats)}:${process.env["PATH"]}` },
                maxWorkers: atOnce,
                sequence: { groupOrder: 1 },
              },
            },
          ]),
      {
        test: {
          ...slow,
          name: "deployments",
          include: deployments,
          exclude: isolated,
          // In one group with the components, so that the last files of neither run alone.
          maxWorkers: atOnce,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...slow,
          name: "system",
          include: system,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...slow,
          name: "isolated",
          include: isolated,
          isolate: true,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
