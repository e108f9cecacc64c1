import { expect, test } from "vitest";
import { unexpectedEnd } from "./unexpected-end.mjs";

test("a server that was killed is reported, with the command that continues its runs", () => {
  expect(unexpectedEnd("start", "SIGKILL")).toBe(
    "npm start was ended by SIGKILL; npm start continues its runs",
  );
  expect(unexpectedEnd("demo", "SIGSEGV")).toBe("npm run demo was ended by SIGSEGV");
});

test.each(["SIGINT", "SIGTERM", "SIGHUP", null])("an end by %s needs no report", (signal) => {
  expect(unexpectedEnd("start", signal)).toBeUndefined();
});
