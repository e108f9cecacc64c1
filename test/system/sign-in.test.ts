import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "@reeve/cli/run-cli";
import { MemoryTerminal } from "@reeve/cli/test/support/memory-terminal";
import { openConnection } from "@reeve/client";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OidcServer } from "../support/oidc-server.ts";
import {
  audience,
  cliClient,
  signIn,
  startOidcServer,
  tokenOfProgram,
} from "../support/oidc-server.ts";
import { describeDeciders } from "./parts/deciders.ts";
import { Deployment } from "./support/deployment.ts";

const people = ["ann", "bob", "carol", "dora"] as const;
type Person = (typeof people)[number];

/** People with tokens and all roles, beside `tester`. */
const tokens = { eve: "token-of-eve-0123456789", gus: "token-of-gus-0123456789" };

const home = mkdtempSync(join(tmpdir(), "reeve-sign-in-"));
let oidc: OidcServer;
let deployment: Deployment;

beforeAll(async () => {
  const groups = {
    ann: ["users"],
    bob: ["approvers"],
    carol: ["visitors"],
    dora: ["auditors"],
    nightly: ["users"],
  };
  oidc = await startOidcServer(groups);
  const config = {
    issuer: oidc.issuer,
    audience,
    tenant: "acme",
    roles: { users: ["runner"], approvers: ["approver"], auditors: ["operator"] },
  };
  const { eve, gus } = tokens;
  const settings = {
    REEVE_AUDIT_TENANT: "acme",
    REEVE_TOKENS: `test-token-0123456789=acme/tester,${eve}=acme/eve,${gus}=acme/gus`,
  };
  deployment = await Deployment.start(settings, { REEVE_OIDC_CONFIG: JSON.stringify(config) });
  await deployment.agent("todo", { hitlTools: ["add_todo"] });
  await Promise.all(people.map(login));
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await oidc[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** A command line that runs in this process. */
interface CommandLine {
  readonly terminal: MemoryTerminal;
  readonly code: Promise<number>;
}

/** Starts a command line of a person, who gives no token. */
function reeve(person: Person, ...args: readonly string[]): CommandLine {
  const terminal = new MemoryTerminal();
  const code = runCli(["--url", deployment.url, "--data-dir", join(home, "no-data"), ...args], {
    terminal,
    environment: { REEVE_CONFIG_DIR: join(home, person) },
    signal: new AbortController().signal,
  });
  return { terminal, code };
}

async function login(person: Person): Promise<void> {
  const line = reeve(person, "login", "--issuer", oidc.issuer, "--client-id", cliClient);
  const isShown = () => expect(line.terminal.stderr).toContain("confirm the code");
  await vi.waitFor(isShown, { timeout: 60_000 });
  const [, url = ""] = /open (\S+)/.exec(line.terminal.stderr) ?? [];
  expect(await signIn(url, person)).toContain("Sign-in Success");
  expect([await line.code, line.terminal.stderr]).toEqual([
    0,
    expect.stringContaining(`signed in at ${oidc.issuer} for ${deployment.url}`),
  ]);
}

interface Stored {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
}

function fileOf(person: Person): string {
  return join(home, person, "sign-ins.json");
}

function storedOf(person: Person): Stored | undefined {
  const { servers } = JSON.parse(readFileSync(fileOf(person), "utf8")) as {
    readonly servers: Readonly<Record<string, Stored>>;
  };
  return servers[deployment.url];
}

test("a person who has signed in reads the groups and roles that the provider gives", async () => {
  const line = reeve("bob", "whoami");
  expect(await line.code).toBe(0);
  expect(line.terminal.stdout).toMatch(
    /^subject  bob\ntenant   acme\nroles    .*approver.*\ngroups   /,
  );
});

test("a person signs in and starts a run, and only a person of another group approves its call", async () => {
  const run = reeve("ann", "run", "todo", "go", "--watch");
  const waiting = async () => (await deployment.reeve.approvals.listApprovals({})).approvals;
  await expect.poll(waiting).toHaveLength(1);
  const [{ approvalId: id } = { approvalId: "" }] = await waiting();
  const own = reeve("ann", "approve", id);
  expect(await own.code).toBe(1);
  expect(own.terminal.stderr).toContain("ann of tenant acme may not call DecideApproval");
  expect(await reeve("bob", "approve", id).code).toBe(0);
  expect(await run.code).toBe(0);
  const { approval } = await deployment.reeve.approvals.getApproval({ approvalId: id });
  expect(approval).toMatchObject({ requestedBy: "ann", decision: { decidedBy: "bob" } });
});

test("a person without a group is refused by name", async () => {
  const refused = reeve("carol", "runs");
  expect(await refused.code).toBe(1);
  expect(refused.terminal.stderr).toContain("carol of tenant acme has no role: no group");
});

/** An event of the trail, as an export has it. */
interface Exported {
  readonly time: string;
  readonly subject?: string;
  readonly action: string;
  readonly code: string;
  readonly reason?: string;
  readonly method: string;
  readonly credential?: { readonly kind?: string; readonly id?: string };
  readonly choices?: Readonly<Record<string, boolean>>;
  readonly resources?: readonly { readonly kind: string; readonly id: string }[];
}

async function exported(...args: readonly string[]): Promise<readonly Exported[]> {
  const { terminal, code } = reeve("dora", "audit", "--json", ...args);
  expect(await code).toBe(0);
  const lines = terminal.stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Exported).toReversed();
}

test("the trail has the sign-ins, the run, the refused and the accepted decision, and who made them", async () => {
  const all = await exported();
  const of = (subject: string) =>
    all
      .filter((event) => event.subject === subject)
      .map(({ action, code, reason = "" }) => `${action} ${code} ${reason}`.trim());
  expect(of("ann").slice(0, 3)).toEqual(["sign_in OK", "run.start OK", "run.watch OK"]);
  expect(of("ann")).toContain("approval.decide PERMISSION_DENIED PERMISSION_DENIED");
  expect(of("bob")).toEqual(["sign_in OK", "approval.decide OK"]);
  expect(of("carol")).toEqual(["sign_in PERMISSION_DENIED NO_ROLE"]);
  const decision = all.find(({ action, code }) => action === "approval.decide" && code === "OK");
  const started = all.find(({ subject, action }) => subject === "ann" && action === "run.start");
  const runId = started?.resources?.find(({ kind }) => kind === "run")?.id ?? "";
  expect(runId).toMatch(/^run_/);
  expect(decision).toMatchObject({
    subject: "bob",
    choices: { approved: true },
    credential: { kind: "KIND_OIDC", id: expect.stringMatching(/^[0-9a-f]{12}$/) as string },
    resources: [{ kind: "approval" }, { kind: "run", id: runId }],
  });
  const ofRun = await exported("--resource", runId, "--outcome", "ok");
  expect(new Set(ofRun.map(({ subject }) => subject))).toEqual(new Set(["ann", "bob"]));
  expect(ofRun.map(({ action }) => action)).toContain("approval.decide");
  // The input of the run, and the tokens of the people.
  const text = JSON.stringify(all);
  expect(text).not.toContain(storedOf("ann")?.accessToken.slice(0, 20));
  const refused = reeve("ann", "audit");
  expect(await refused.code).toBe(1);
  expect(refused.terminal.stderr).toContain("ann of tenant acme may not call ListAuditEvents");
});

test("a program signs in with its own credentials", async () => {
  const token = await tokenOfProgram(oidc.issuer);
  using nightly = openConnection({ address: deployment.url, token });
  expect((await nightly.runs.listRuns({})).runs.length).toBeGreaterThan(0);
});

test("when the key changes, expired sign-ins are renewed and tokens of the old key are refused", async () => {
  expect(statSync(fileOf("ann")).mode & 0o777).toBe(0o600);
  const { accessToken: old, refreshToken, expiresAt } = storedOf("ann") as Stored;
  expect(expiresAt).toBeGreaterThan(Date.now());
  const text = readFileSync(fileOf("ann"), "utf8");
  writeFileSync(fileOf("ann"), text.replace(String(expiresAt), "1"));
  await oidc.rotateKey();
  const renewing = [reeve("ann", "runs"), reeve("ann", "runs")];
  expect(await Promise.all(renewing.map(({ code }) => code))).toEqual([0, 0]);
  const renewed = storedOf("ann");
  expect(renewed?.expiresAt).toBeGreaterThan(Date.now());
  expect(renewed?.accessToken).not.toBe(old);
  expect(renewed?.refreshToken ?? refreshToken).toBeDefined();
  using before = openConnection({ address: deployment.url, token: old });
  const refused = await before.runs.listRuns({}).catch(failureFrom);
  expect(refused).toMatchObject({
    kind: "unauthenticated",
    message: expect.stringContaining("publishes no key") as string,
  });
  const reasons = async () => {
    const { events } = await deployment.reeve.audit.listAuditEvents({ withoutTenant: true });
    return events.map(({ action, code, reason }) => [action, code, reason]);
  };
  await expect.poll(reasons).toContainEqual(["sign_in", "UNAUTHENTICATED", "UNKNOWN_KEY"]);
});

test("after a person signs out, the token is gone and cannot be renewed", async () => {
  const { refreshToken } = storedOf("bob") as Stored;
  expect(await reeve("bob", "logout").code).toBe(0);
  expect(storedOf("bob")).toBeUndefined();
  const refused = reeve("bob", "runs");
  expect(await refused.code).toBe(1);
  expect(refused.terminal.stderr).toMatch(/reeve .*login/);
  const answer = await fetch(`${oidc.issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      client_id: cliClient,
      refresh_token: refreshToken,
    }),
  });
  expect(await answer.json()).toMatchObject({ error: "invalid_grant" });
});

describeDeciders(() => deployment, tokens);
