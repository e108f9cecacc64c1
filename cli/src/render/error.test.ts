import { connect, ReeveError } from "@reeve/client";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { plainStyle } from "../../test/support/memory-terminal.ts";
import { renderError } from "./error.ts";

test("shows every violation in a table", () => {
  const failure = new Failure("invalid", ErrorReason.INVALID_AGENT, "the agent spec is not valid", {
    violations: [
      { field: "spec.model", description: "no such model", reason: "MODEL_NOT_FOUND" },
      { field: "spec.hitl_tools[1]", description: "no such tool", reason: "TOOL_NOT_FOUND" },
    ],
  });
  expect(renderError(failure, undefined, plainStyle)).toBe(
    [
      "error: the agent spec is not valid",
      "FIELD               PROBLEM        RULE",
      "spec.model          no such model  MODEL_NOT_FOUND",
      "spec.hitl_tools[1]  no such tool   TOOL_NOT_FOUND",
      "",
    ].join("\n"),
  );
});

test("says each problem once, where the sentence of the error lists them", () => {
  const violations = [
    { field: "line 3", description: "a string is not closed", reason: "SYNTAX" },
    { field: "", description: "the file is not a mapping", reason: "MISTYPED" },
  ];
  const message =
    "a.yaml is not a valid agent spec: line 3: a string is not closed; the file is not a mapping";
  const failure = new Failure("invalid", ErrorReason.INVALID_AGENT, message, { violations });
  expect(renderError(failure, undefined, plainStyle)).toBe(
    [
      "error: a.yaml is not a valid agent spec",
      "FIELD   PROBLEM                    RULE",
      "line 3  a string is not closed     SYNTAX",
      "        the file is not a mapping  MISTYPED",
      "",
    ].join("\n"),
  );
});

test("explains how to start a server when there is none", async () => {
  using reeve = connect({ address: "http://127.0.0.1:1", retryTimeoutMs: 1 });
  const error: unknown = await reeve.listTools().catch((thrown: unknown) => thrown);
  expect(renderError(error, "http://127.0.0.1:1", plainStyle)).toContain(
    "no Reeve server at http://127.0.0.1:1; start one with `reeve up`",
  );
});

test("says that no server of the selected data folder runs, whether or not another one answers", async () => {
  const url = "http://127.0.0.1:1";
  using reeve = connect({ address: url, retryTimeoutMs: 1 });
  const unreachable: unknown = await reeve.listTools().catch((thrown: unknown) => thrown);
  expect(renderError(unreachable, url, plainStyle, "data")).toBe(
    "error: no server of the data folder data is running; start it with `reeve up`\n",
  );
  const unknown = ReeveError.from(new ConnectError("unknown bearer token", Code.Unauthenticated));
  expect(renderError(unknown, url, plainStyle, "data")).toBe(
    `error: no server of the data folder data is running; start it with \`reeve up --listen 127.0.0.1:0\`, because another server uses ${url}\n`,
  );
  const other = ReeveError.from(new ConnectError("no such run", Code.NotFound));
  expect(renderError(other, url, plainStyle, "data")).toBe("error: no such run\n");
});

test("text of a server cannot control the terminal", () => {
  expect(renderError(new Error("x\u001b[2J"), undefined, plainStyle)).toBe("error: x[2J\n");
});
