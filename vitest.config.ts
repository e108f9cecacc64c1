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
const system = [
  "packages/*/test/**/*.test.ts",
  "services/*/test/**/*.test.ts",
  "cli/test/**/*.test.ts",
  "test/system/**/*.test.ts",
  "test/clients/**/*.test.ts",
  "test/parity/**/*.test.ts",
  "test/chaos/**/*.test.ts",
  "test/k8s/**/*.test.ts",
  "test/adversarial/**/*.test.ts",
  "test/integration/**/*.test.ts",
];

export default defineConfig({
  test: {
    projects: [
      {
        // No unit test changes what is global, so that none needs a process of its own.
        test: { name: "unit", include: unit, testTimeout: 30_000, isolate: false, maxWorkers: "100%" },
      },
      {
        test: {
          name: "system",
          include: system,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // These share two processors with a dozen programs; what passes at the second try only is told as such.
          retry: process.env["CI"] === undefined ? 0 : 1,
          fileParallelism: false,
        },
      },
    ],
  },
});
