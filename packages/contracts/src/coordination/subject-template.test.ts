import { expect, test } from "vitest";
import { subjectTemplate } from "./subject-template.ts";

const logs = subjectTemplate("run.{tenant}.{run}.log");

test("a template is rendered with tokens, and matches what it rendered", () => {
  const tokens = { tenant: "acme", run: "run_1" };
  expect(logs.render(tokens)).toBe("run.acme.run_1.log");
  expect(logs.match("run.acme.run_1.log")).toEqual(tokens);
});

test("a template without placeholders is rendered with nothing", () => {
  expect(subjectTemplate("run.liveness").render({})).toBe("run.liveness");
});

test.each(["run.acme.log", "run.acme.run_1.log.0", "live.acme.run_1.log", ""])(
  "a template does not match the subject %j",
  (subject) => {
    expect(logs.match(subject)).toBeUndefined();
  },
);

test.each([{ tenant: "acme" }, { tenant: "acme", run: "a.b" }, { tenant: "", run: "run_1" }])(
  "a template is not rendered with %j",
  (tokens) => {
    expect(() => logs.render(tokens as Record<string, string>)).toThrow(RangeError);
  },
);
