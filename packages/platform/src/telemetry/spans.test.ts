import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { contextFrom, inChildSpan, isSameTrace, linksTo, traceparentOf } from "./spans.ts";

const one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const other = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00";

test("a trace context survives encoding and decoding", () => {
  for (const given of [one, other]) {
    expect(traceparentOf(trace.getSpan(contextFrom(given)))).toBe(given);
  }
});

test("an invalid trace context has no trace", () => {
  const zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
  for (const given of [
    "",
    "nonsense",
    zeros,
    one.toUpperCase(),
    `${one}-more`,
    "ff" + one.slice(2),
  ]) {
    expect(contextFrom(given)).toBe(ROOT_CONTEXT);
    expect(linksTo([given])).toEqual([]);
    expect(isSameTrace(given, given)).toBe(false);
  }
});

test("two spans of one trace are distinguished from spans of other traces", () => {
  expect(isSameTrace(one, other)).toBe(true);
  expect(isSameTrace(one, one.replace("0af7", "1af7"))).toBe(false);
});

test("a child span without a parent begins no trace", async () => {
  expect(await inChildSpan("publish", {}, () => Promise.resolve(traceparentOf()))).toBe("");
});
