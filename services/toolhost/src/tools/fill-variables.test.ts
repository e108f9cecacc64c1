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

test("a value is redacted by the name of its text or of its variable, and other values are ordinary words", () => {
  const environment = { REGION: "region-of-the-north", GITHUB_PAT_TOKEN: "canary-of-a-variable" };
  const texts = { DEPLOY_REGION: "${REGION}", PAT: "${GITHUB_PAT_TOKEN}" };
  expect(fillVariables("S", texts, environment)).toEqual({
    DEPLOY_REGION: "region-of-the-north",
    PAT: "canary-of-a-variable",
  });
  expect(processRedaction.text("region-of-the-north, canary-of-a-variable")).toBe(
    "region-of-the-north, [redacted]",
  );
});

test("a variable that is not set is an error that names it", () => {
  expect(() => fillVariables("S", { a: "${TRACKER_TOKEN}" }, { TRACKER_TOKEN: " " })).toThrow(
    /the environment has no TRACKER_TOKEN/,
  );
});
