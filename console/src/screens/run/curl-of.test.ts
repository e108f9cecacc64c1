import { expect, test } from "vitest";
import { curlOf } from "./curl-of.ts";

test("a command follows a run after an event, and has no token", () => {
  expect(curlOf("http://a", "run_1", 0)).toBe(
    `curl -sSN --fail-with-body 'http://a/v1/runs/run_1/events' -H "authorization: Bearer $REEVE_TOKEN"`,
  );
  expect(curlOf("http://a", "run_1", 7)).toContain("/events?afterSequence=7'");
});

test("an id from an address cannot add a command", () => {
  expect(curlOf("http://a", "x'; rm -rf ~ #", 0)).toContain(
    `'http://a/v1/runs/x'\\''%3B%20rm%20-rf%20~%20%23/events'`,
  );
});
