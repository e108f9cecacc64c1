import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { expect, test } from "vitest";
import { fillVariables } from "./fill-variables.ts";

test("values of the environment are filled in, and redacted from then on", () => {
  const environment = { TRACKER_TOKEN: "canary-of-the-environment\n" };
  const filled = fillVariables("S", { authorization: "Bearer ${TRACKER_TOKEN}" }, environment);
  expect(filled).toEqual({ authorization: "Bearer canary-of-the-environment\n" });
  expect(processRedaction.text("sent canary-of-the-environment, refused")).toBe(
    "sent [redacted], refused",
  );
});

test("a variable that is not set is an error that names it", () => {
  expect(() => fillVariables("S", { a: "${TRACKER_TOKEN}" }, { TRACKER_TOKEN: " " })).toThrow(
    /the environment has no TRACKER_TOKEN/,
  );
});
