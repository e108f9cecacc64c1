import { expect, test } from "vitest";
import {
  noRemoteUsage,
  usageExtension,
  usageIn,
  usageMetadata,
  usageSince,
} from "./remote-usage.ts";

const usage = {
  inputTokens: 100,
  outputTokens: 20,
  cachedInputTokens: 50,
  cacheWriteInputTokens: 0,
  costUsd: 0.5,
};

// Requirement: RES-7
test("what a task has used is read as it was reported, with an unknown cost", () => {
  const { costUsd: _, ...unpriced } = usage;
  expect(usageIn(usageMetadata(usage))).toEqual(usage);
  expect(usageIn(usageMetadata({ ...usage, costUsd: undefined }))).toEqual(unpriced);
});

// Requirement: RES-7
test.each([
  [undefined],
  ["100"],
  [{ inputTokens: -1 }],
  [{ inputTokens: 0.5 }],
  [{ outputTokens: 2e9 }],
  [{ cachedInputTokens: "1" }],
  [{ costUsd: -0.1 }],
  [{ costUsd: "1" }],
  [{ costUsd: 1e7 }],
])("a usage that is not possible counts as none: %j", (reported) => {
  expect(usageIn({ [usageExtension]: reported })).toBeUndefined();
});

// Requirement: RES-7
test("a turn counts what its task has used since the turn before, and never less than nothing", () => {
  const later = { ...usage, inputTokens: 130, outputTokens: 10, costUsd: 0.75 };
  const grown = { ...noRemoteUsage, inputTokens: 30, costUsd: 0.25 };
  expect(usageSince(noRemoteUsage, usage)).toEqual(usage);
  expect(usageSince(usage, later)).toEqual(grown);
  expect(usageSince(later, usage)).toMatchObject({ inputTokens: 0, outputTokens: 10, costUsd: 0 });
  expect(usageSince(usage, { ...later, costUsd: undefined }).costUsd).toBeUndefined();
});
