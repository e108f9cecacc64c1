import { expect, test } from "vitest";
import { readableLine } from "./log-line.ts";
import { createLogger } from "./logger.ts";
import { processRedaction } from "./redaction/redaction.ts";

/** Returns the lines that a function logs. */
function logged(log: (logger: ReturnType<typeof createLogger>) => void): readonly string[] {
  const lines: string[] = [];
  log(createLogger("gateway", "info", { write: (line) => void lines.push(line) }));
  return lines;
}

test("a line is JSON with the name of its level and its time in ISO 8601", () => {
  const [line = ""] = logged((log) => log.warn({ runId: "run_1" }, "run was not cancelled"));
  expect(JSON.parse(line)).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: "gateway",
    runId: "run_1",
    msg: "run was not cancelled",
  });
});

test("a line has the name of a secret, and not the secret", () => {
  const [line] = logged((log) => log.info({ token: "t0ken" }, "connected"));
  expect(line).toContain('"token":"[secret]"');
});

test("on a terminal a line is text: time, level, service, message, and fields", () => {
  const json = {
    level: "warn",
    time: "2026-01-02T03:04:05.678Z",
    service: "toolhost",
    driver: "bubblewrap",
    trace_id: "0123",
    msg: "sandbox does not work",
  };
  expect(readableLine(JSON.stringify(json))).toBe(
    "03:04:05.678 WARN  toolhost  sandbox does not work driver='bubblewrap'\n",
  );
});

test("on a terminal an error is below its line, with its line breaks", () => {
  const [json = ""] = logged((log) => log.error({ err: new Error("first\nsecond") }, "it failed"));
  expect(readableLine(json)).toMatch(
    /ERROR gateway {2}it failed\n {2}Error: first\n {2}second\n {6}at /,
  );
});

test("a value cannot change the terminal", () => {
  const [json = ""] = logged((log) => log.error({ err: { message: "\u001b[2Jx\r" } }, "\u009b1m"));
  expect(readableLine(json)).toMatch(/ERROR gateway {2}1m\n {2}\[2Jx\n$/);
});

test("a line has no secret that this process used, in its message, fields, and errors", () => {
  const secret = 'canary "of" the log';
  processRedaction.add(secret);
  const [line = ""] = logged((log) =>
    log.warn({ err: new Error(`refused ${secret}`), args: [secret] }, `tried ${secret}`),
  );
  expect(line).not.toContain("canary");
  expect(JSON.parse(line)).toMatchObject({
    err: { message: "refused [redacted]" },
    args: ["[redacted]"],
    msg: "tried [redacted]",
  });
});
