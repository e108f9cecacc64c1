import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { createClient, createContextValues } from "@connectrpc/connect";
import { Role } from "@reeve/contracts/access/role";
import { ArtifactService } from "@reeve/contracts/artifact";
import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { failureFrom } from "../src/rpc/connect-failure.ts";
import { authenticateInternally, principalHeaders } from "../src/rpc/internal-principal.ts";
import { fixedCredentials } from "../src/rpc/credentials/bearer-tokens.ts";
import { authenticate, mayCall, principalOf, recheck } from "../src/rpc/principal.ts";
import { allRoles } from "../src/rpc/roles.ts";
import { processMetrics } from "../src/telemetry/metrics.ts";
import { served } from "./support/served.ts";

/** Replies with the principal of the request. */
const whoami = {
  getRun: (_: unknown, context: HandlerContext) => {
    const { tenant, subject } = principalOf(context);
    return { run: { runId: `${tenant}/${subject}` } };
  },
};
const internalToken = "internal-token-of-a-test";

async function subjectOf(
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

test("a bearer token determines the principal; a request without one is refused", async () => {
  const tokens = new Map([["secret-token", { tenant: "acme", subject: "ann", roles: allRoles }]]);
  await using bench = await served(whoami, {
    authenticate: authenticate(fixedCredentials(tokens)),
  });
  expect(await subjectOf(bench, { authorization: "Bearer secret-token" })).toBe("acme/ann");
  expect(await subjectOf(bench, { authorization: "bearer secret-token" })).toBe("acme/ann");
  for (const authorization of ["", "secret-token", "Bearer ", "Bearer secret-token x", "Basic a"]) {
    expect(await subjectOf(bench, { authorization })).toBe("unauthenticated");
  }
  expect(await subjectOf(bench, {})).toBe("unauthenticated");
  // The headers between Reeve's services have no meaning here.
  expect(await subjectOf(bench, { "reeve-tenant": "acme", "reeve-subject": "ann" })).toBe(
    "unauthenticated",
  );
  expect((await createClient(Health, bench.transport).check({})).status).toBe(1);
});

test("two tokens in one request are refused", async () => {
  const tokens = new Map([["secret-token", { tenant: "acme", subject: "ann", roles: allRoles }]]);
  await using bench = await served(whoami, {
    authenticate: authenticate(fixedCredentials(tokens)),
  });
  const client = createClient(RunService, bench.transport);
  const headers = new Headers({ authorization: "Bearer secret-token" });
  headers.append("authorization", "Bearer secret-token");
  const refused = await client.getRun({ runId: "r" }, { headers }).catch(failureFrom);
  expect(refused).toMatchObject({ kind: "unauthenticated" });
});

test("a Reeve service sends the principal of its call, whatever characters the name has", async () => {
  await using bench = await served(whoami, {
    authenticate: authenticateInternally(internalToken),
  });
  for (const subject of ["ann", "ärzte 🙂", "a/b%c\n", "x".repeat(128)]) {
    const headers = principalHeaders({ tenant: "acme", subject }, internalToken);
    expect(await subjectOf(bench, headers)).toBe(`acme/${subject}`);
  }
});

test("a caller without the internal token, or without a principal, is refused", async () => {
  await using bench = await served(whoami, {
    authenticate: authenticateInternally(internalToken),
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
    expect(await subjectOf(bench, { ...right, ...headers })).toBe("unauthenticated");
  }
  expect(bench.logged).toEqual([]);
});

test("a credential without the role of a method is refused before the method is called", async () => {
  const roles = new Set([Role.APPROVER]);
  const tokens = new Map([["secret-token", { tenant: "acme", subject: "ann", roles }]]);
  await using bench = await served(whoami, {
    authenticate: authenticate(fixedCredentials(tokens)),
  });
  const headers = { authorization: "Bearer secret-token" };
  // Every role permits what a viewer may do.
  expect(await subjectOf(bench, headers)).toBe("acme/ann");
  const client = createClient(RunService, bench.transport);
  const refused = await client.startRun({}, { headers }).catch(failureFrom);
  expect(refused).toMatchObject({
    kind: "denied",
    message:
      "ann of tenant acme may not call StartRun: the credential has only approver; use a credential with the role runner",
    metadata: { method: "StartRun", role: "runner" },
  });
});

test("a credential without any role may do nothing", async () => {
  const credential = { tenant: "acme", subject: "ann", roles: new Set<Role>() };
  const tokens = new Map([["secret-token", credential]]);
  await using bench = await served(whoami, {
    authenticate: authenticate(fixedCredentials(tokens)),
  });
  expect(await subjectOf(bench, { authorization: "Bearer secret-token" })).toBe("denied");
});

test("refused credentials are counted by the reason", async () => {
  const credential = { tenant: "acme", subject: "ann", roles: new Set([Role.VIEWER]) };
  const tokens = new Map([["secret-token", credential]]);
  await using bench = await served(whoami, {
    authenticate: authenticate(fixedCredentials(tokens)),
  });
  const refusals = processMetrics().getSingleMetric("reeve_refused_credentials_total");
  refusals?.reset();
  const client = createClient(RunService, bench.transport);
  await subjectOf(bench, {});
  await subjectOf(bench, { authorization: "Bearer guess" });
  await client
    .startRun({}, { headers: { authorization: "Bearer secret-token" } })
    .catch(() => undefined);
  await subjectOf(bench, { authorization: "Bearer secret-token" });
  const { values = [] } = (await refusals?.get()) ?? {};
  expect(values.map(({ labels, value }) => [labels["why"], value])).toEqual([
    ["missing", 1],
    ["unknown", 1],
    ["role", 1],
  ]);
});

test("a token that stands for somebody else ends the streams that it opened", async () => {
  let subject = "ann";
  const roles = new Set([Role.VIEWER]);
  const admit = authenticate({
    accept: () => Promise.resolve(() => ({ tenant: "acme", subject, roles })),
  });
  const values = createContextValues();
  const requestHeader = new Headers({ authorization: "Bearer secret-token" });
  await admit({ service: RunService, method: RunService.method.watchRun, requestHeader, values });
  recheck(values);
  expect(mayCall({ values }, RunService.method.getRun)).toBe(true);
  expect(mayCall({ values }, RunService.method.cancelRun)).toBe(false);
  subject = "bob";
  expect(() => recheck(values)).toThrow("unknown bearer token");
});

test("a role that is removed ends the streams that needed it, and no others", async () => {
  let roles = new Set<Role>([Role.RUNNER]);
  const admit = authenticate({
    accept: () => Promise.resolve(() => ({ tenant: "acme", subject: "ann", roles })),
  });
  const accepted = async (method: DescMethod) => {
    const values = createContextValues();
    const requestHeader = new Headers({ authorization: "Bearer secret-token" });
    await admit({ service: method.parent, method, requestHeader, values });
    return values;
  };
  const upload = await accepted(ArtifactService.method.uploadArtifact);
  const watch = await accepted(RunService.method.watchRun);
  recheck(upload);
  roles = new Set([Role.VIEWER]);
  expect(() => recheck(upload)).toThrow(
    "ann of tenant acme may not call UploadArtifact: the credential has only viewer; use a credential with the role runner",
  );
  recheck(watch);
  roles = new Set();
  expect(() => recheck(watch)).toThrow(/ann of tenant acme may not call WatchRun/);
});

test("a principal in more groups than a call carries is refused with the reason", () => {
  expect(headersFor(groupsOf(500, "g"))["reeve-groups"]?.split(",")).toHaveLength(500);
  for (const groups of [groupsOf(501, "g"), groupsOf(2, "ü".repeat(2_000))]) {
    expect(() => headersFor(groups)).toThrow(`the credential of ann names ${groups.size} groups`);
  }
});

function groupsOf(count: number, name: string): ReadonlySet<string> {
  return new Set(Array.from({ length: count }, (_, at) => `${name}${at}`));
}

function headersFor(groups: ReadonlySet<string>): Record<string, string> {
  return principalHeaders({ tenant: "acme", subject: "ann", groups }, internalToken);
}
