import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { refusal, unreachable } from "./cluster-failure.ts";

const path = "/api/v1/namespaces/reeve/pods";

function status(message: string): string {
  return JSON.stringify({ kind: "Status", message });
}

test.each([
  ["POST", path, "", "the verb create on pods"],
  ["GET", `${path}/one/attach?stdin=true`, "", "the verb get on pods/attach"],
  ["DELETE", `${path}/one`, "", "the verb delete on pods"],
  // An API server knows better than the method tells which right it asked for.
  ["GET", `${path}/one/attach`, 'cannot create resource "pods/attach" in', "create on pods/attach"],
  ["GET", `${path}?watch=1`, 'cannot watch resource "pods" in API group', "the verb watch on pods"],
] as const)("%s %s without a right names it", (method, asked, message, right) => {
  const failure = refusal({ method, path: asked }, 403, status(message));
  expect(failure).toMatchObject({ kind: "denied" });
  expect(failure.message).toContain(right);
});

test("an answer that is no status is told as it is", () => {
  const failure = refusal({ method: "GET", path }, 502, "<html>bad gateway</html>");
  expect(failure.kind).toBe("unavailable");
  expect(failure.message).toContain("<html>bad gateway</html>");
});

test("what was refused is not taken for a server that is away", () => {
  const failure = refusal({ method: "GET", path }, 404, "");
  expect(unreachable("https://server", failure)).toBe(failure);
  expect(unreachable("https://server", new Error("broken"))).toBeInstanceOf(Failure);
});
