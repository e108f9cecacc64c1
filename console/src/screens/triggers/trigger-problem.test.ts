import { expect, test } from "vitest";
import { divideProblem } from "./trigger-problem.ts";

const problem = (...violations: readonly { field: string; description: string }[]) => ({
  title: "The request is not valid",
  message: violations.map(({ description }) => description).join("; "),
  reason: "INVALID_REQUEST",
  violations,
  advice: "",
});

test("what is wrong with a trigger is shown at the fields of the form", () => {
  const refused = problem(
    { field: "spec.trigger_id", description: "does not match regex pattern `^[a-z]`" },
    { field: "spec.schedule.cron", description: "has 2 fields" },
    { field: 'spec.labels["a"]', description: "is too long" },
  );
  expect(divideProblem(refused)).toEqual({
    fields: {
      triggerId: expect.stringMatching(/^may have lower-case letters/),
      cron: "has 2 fields",
      labels: "is too long",
    },
    rest: undefined,
  });
});

test("what belongs to no field is shown below the form", () => {
  const source = { field: "spec.source", description: "cannot change" };
  const { fields, rest } = divideProblem(
    problem(source, { field: "spec.input", description: "is too long" }),
  );
  expect(fields).toEqual({ input: "is too long" });
  expect(rest?.violations).toEqual([source]);
  const lost = problem();
  expect(divideProblem(lost)).toEqual({ fields: {}, rest: lost });
  expect(divideProblem(undefined)).toEqual({ fields: {}, rest: undefined });
});
