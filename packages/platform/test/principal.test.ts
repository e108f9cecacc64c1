import type { HandlerContext } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { failureFrom } from "../src/rpc/connect-failure.ts";
import { authenticateInternally, principalHeaders } from "../src/rpc/internal-principal.ts";
import { authenticate, principalOf } from "../src/rpc/principal.ts";
import { served } from "./support/served.ts";

/** Answers with who asked. */
const whoami = {
  getRun: (_: unknown, context: HandlerContext) => {
    const { tenant, subject } = principalOf(context);
    return { run: { runId: `${tenant}/${subject}` } };
  },
};
const internalToken = "internal-token-of-a-test";

async function asked(
  bench: Awaited<ReturnType<typeof served>>,
  headers: Record<string, string>,
): Promise<unknown> {
  const client = createClient(RunService, bench.transport);
  const answer = client.getRun({ runId: "r" }, { headers });
  return answer.then(
    ({ run }) => run?.runId,
    (error: unknown) => failureFrom(error).kind,
  );
}

test("a bearer token says who asks; without one nobody is heard", async () => {
  const tokens = new Map([["secret-token", { tenant: "acme", subject: "ann" }]]);
  await using bench = await served(whoami, { interceptors: [authenticate(tokens)] });
  expect(await asked(bench, { authorization: "Bearer secret-token" })).toBe("acme/ann");
  expect(await asked(bench, { authorization: "bearer secret-token" })).toBe("acme/ann");
  for (const authorization of ["", "secret-token", "Bearer ", "Bearer secret-token x", "Basic a"]) {
    expect(await asked(bench, { authorization })).toBe("unauthenticated");
  }
  expect(await asked(bench, {})).toBe("unauthenticated");
  // What one of our services would send means nothing here.
  expect(await asked(bench, { "reeve-tenant": "acme", "reeve-subject": "ann" })).toBe(
    "unauthenticated",
  );
  expect((await createClient(Health, bench.transport).check({})).status).toBe(1);
});

test("two tokens in one request are none", async () => {
  const tokens = new Map([["secret-token", { tenant: "acme", subject: "ann" }]]);
  await using bench = await served(whoami, { interceptors: [authenticate(tokens)] });
  const client = createClient(RunService, bench.transport);
  const headers = new Headers({ authorization: "Bearer secret-token" });
  headers.append("authorization", "Bearer secret-token");
  const refused = await client.getRun({ runId: "r" }, { headers }).catch(failureFrom);
  expect(refused).toMatchObject({ kind: "unauthenticated" });
});

test("one of our services says for whom it calls, whatever the name", async () => {
  await using bench = await served(whoami, {
    interceptors: [authenticateInternally(internalToken)],
  });
  for (const subject of ["ann", "ärzte 🙂", "a/b%c\n", "x".repeat(128)]) {
    const headers = principalHeaders({ tenant: "acme", subject }, internalToken);
    expect(await asked(bench, headers)).toBe(`acme/${subject}`);
  }
});

test("whoever is none of our services, or does not say for whom, is refused", async () => {
  await using bench = await served(whoami, {
    interceptors: [authenticateInternally(internalToken)],
  });
  const right = principalHeaders({ tenant: "acme", subject: "ann" }, internalToken);
  const wrong: readonly Record<string, string>[] = [
    { authorization: "" },
    { authorization: "Bearer another-token-of-a-test" },
    { "reeve-tenant": "" },
    { "reeve-tenant": "a.b" },
    { "reeve-tenant": "*" },
    { "reeve-subject": "" },
    { "reeve-subject": "%E0%A4%A" },
  ];
  for (const headers of wrong) {
    expect(await asked(bench, { ...right, ...headers })).toBe("unauthenticated");
  }
  expect(bench.logged).toEqual([]);
});
