import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeDecisions } from "./parts/decisions.ts";
import { describeInbox } from "./parts/inbox.ts";
import { describeListOfRuns } from "./parts/list-of-runs.ts";
import { describePasskeys } from "./parts/passkeys.ts";
import { describeProvider } from "./parts/provider.ts";
import { describeRunViews } from "./parts/run-views.ts";
import { describeScreens } from "./parts/screens.ts";
import { describeSessions } from "./parts/sessions.ts";
import { describeStarting } from "./parts/starting.ts";
import { describeTriggers } from "./parts/triggers.ts";
import { describeWorkflows } from "./parts/workflows.ts";
import { ConsoleFixture } from "./support/console-fixture.ts";
import { missingBrowser } from "./support/open-browser.ts";

const dist = join(import.meta.dirname, "../../console/dist");
const isSkipped = missingBrowser !== undefined && process.env["CI"] === undefined;
let fixture: ConsoleFixture | undefined;

beforeAll(async () => {
  if (!isSkipped) fixture = await ConsoleFixture.start();
});

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
});

/** Every part uses the same deployment: to start one takes longer than most of the tests. */
function started(): ConsoleFixture {
  if (fixture === undefined) throw new Error("the deployment was not started");
  return fixture;
}

test("the first load is at most 300 KiB", { skip: isSkipped }, () => {
  const page = readFileSync(join(dist, "index.html"), "utf8");
  const entry = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path);
  const runs = globSync("assets/{runs-screen,page-head,empty}-*.{js,css}", { cwd: dist });
  const files = new Set([...entry.flatMap((path) => path ?? []), ...runs]);
  const bytes = [...files].map((path) => gzipSync(readFileSync(join(dist, path))).byteLength);
  expect(files.size).toBeGreaterThan(2);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(300 * 1024);
});

describe.skipIf(isSkipped)("the console", () => {
  describeSessions(started);
  describeProvider(started);
  describeRunViews(started);
  describeDecisions(started);
  describeInbox(started);
  describePasskeys(started);
  describeListOfRuns(started);
  describeStarting(started);
  describeWorkflows(started);
  describeTriggers(started);
  describeScreens(started);
});
