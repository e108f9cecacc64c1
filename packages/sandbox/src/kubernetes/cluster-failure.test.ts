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
  // The message of the API server takes precedence over the method.
  ["GET", `${path}/one/attach`, 'cannot create resource "pods/attach" in', "create on pods/attach"],
  ["GET", `${path}?watch=1`, 'cannot watch resource "pods" in API group', "the verb watch on pods"],
] as const)("a refused %s %s names the missing right", (method, requested, message, right) => {
  const failure = refusal({ method, path: requested }, 403, status(message));
  expect(failure).toMatchObject({ kind: "denied" });
  expect(failure.message).toContain(right);
});

test.each([
  [
    "exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4",
    /end other sandboxes/,
  ],
  ["status unknown for quota: compute, resources: pods", /wait until the cluster has computed/],
])("a quota that refuses a pod is no missing right: %s", (message, remedy) => {
  const body = status(`pods "one" is forbidden: ${message}`);
  const failure = refusal({ method: "POST", path }, 403, body);
  expect(failure).toMatchObject({ kind: "exhausted" });
  expect(failure.message).toMatch(remedy);
  expect(failure.message).not.toContain("grant the service account");
});

test("an answer that is not a Status is quoted", () => {
  const failure = refusal({ method: "GET", path }, 502, "<html>bad gateway</html>");
  expect(failure.kind).toBe("unavailable");
  expect(failure.message).toContain("<html>bad gateway</html>");
});

test("a refusal is not reported as an unreachable server", () => {
  const failure = refusal({ method: "GET", path }, 404, "");
  expect(unreachable("https://server", failure)).toBe(failure);
  expect(unreachable("https://server", new Error("broken"))).toBeInstanceOf(Failure);
});
