import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import pc from "picocolors";
import { expect, test } from "vitest";
import { renderFailure } from "./failure.ts";

const colours = pc.createColors(false);

test("shows every violation in a table", () => {
  const failure = new Failure("invalid", ErrorReason.INVALID_AGENT, "the agent spec is not valid", {
    violations: [
      { field: "spec.model", description: "no such model", reason: "MODEL_NOT_FOUND" },
      { field: "spec.hitl_tools[1]", description: "no such tool", reason: "TOOL_NOT_FOUND" },
    ],
  });
  expect(renderFailure(failure, undefined, colours)).toBe(
    [
      "error: the agent spec is not valid",
      "FIELD               PROBLEM        RULE",
      "spec.model          no such model  MODEL_NOT_FOUND",
      "spec.hitl_tools[1]  no such tool   TOOL_NOT_FOUND",
      "",
    ].join("\n"),
  );
});

test("says how to start a server when there is none", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const failure = new Failure("unavailable", ErrorReason.UNAVAILABLE, "x", { cause });
  expect(renderFailure(failure, "http://127.0.0.1:1", colours)).toContain(
    "no Reeve answers at http://127.0.0.1:1: start one with `reeve up`",
  );
});
