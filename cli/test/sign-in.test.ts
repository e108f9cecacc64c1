import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { HandlerContext } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { currentToken } from "../src/sign-in/current-token.ts";
import { signInByDevice } from "../src/sign-in/device-flow.ts";
import type { SignIn } from "../src/sign-in/stored-sign-ins.ts";
import { StoredSignIns } from "../src/sign-in/stored-sign-ins.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRuns, shortRun, smallServer } from "./support/small-server.ts";

const never = new AbortController().signal;
const server = "https://reeve.example";
const folder = mkdtempSync(join(tmpdir(), "reeve-sign-in-"));
const file = join(folder, "sign-ins.json");
const signIns = new StoredSignIns(folder);
let issuer = "";
/** The answers of the token endpoint, the first one first. "broken" is none. */
let answers: (object | "broken")[] = [];
let requests: Readonly<Record<string, string>>[] = [];
/** What happens when the token endpoint receives a request. */
let onRequest: () => void = () => undefined;

const provider = createServer((request, response) => {
  void answer(request).then((body) =>
    body === "broken" ? response.destroy() : response.end(JSON.stringify(body)),
  );
});

async function answer(request: IncomingMessage): Promise<object | "broken"> {
  if (request.method === "GET") {
    return {
      issuer,
      token_endpoint: `${issuer}/token`,
      device_authorization_endpoint: `${issuer}/device`,
    };
  }
  requests.push(Object.fromEntries(new URLSearchParams(await text(request))));
  if (request.url === "/token") {
    onRequest();
    return answers.shift() ?? "broken";
  }
  return { device_code: "d", user_code: "AB-CD", verification_uri: "https://v", expires_in: 60 };
}

beforeAll(async () => {
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  // A TCP server has an address and a port.
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});

afterAll(() => {
  provider.closeAllConnections();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  answers = [];
  requests = [];
  onRequest = () => undefined;
  rmSync(file, { force: true, recursive: true });
  rmSync(`${file}.lock`, { force: true });
});

async function signedIn(clock = new HastyClock()) {
  const shown: string[] = [];
  const show = ({ uri, code }: { readonly uri: string; readonly code: string }) =>
    void shown.push(uri, code);
  const flow = { issuer, clientId: "cli", parameters: { scope: "openid" }, clock, show };
  return { clock, shown, tokens: await signInByDevice(flow, never) };
}

const granted = { access_token: "new", token_type: "Bearer", refresh_token: "next" };

test("a person who signs in is asked for until the provider grants the token", async () => {
  answers = [{ error: "authorization_pending" }, "broken", { error: "slow_down" }, granted];
  const { clock, shown, tokens } = await signedIn();
  expect(shown).toEqual(["https://v", "AB-CD"]);
  expect(tokens).toEqual({ accessToken: "new", refreshToken: "next" });
  expect(clock.delaysMs).toEqual([5_000, 5_000, 5_000, 10_000]);
  expect(requests[0]).toEqual({ scope: "openid", client_id: "cli" });
});

test.each([
  ["refuses", { error: "access_denied", error_description: "Ann said no" }, /Ann said no; run/],
  ["lets the code expire", { error: "expired_token" }, /expired_token; run/],
])("a person who %s is told what to do", async (_, last, message) => {
  answers = [last];
  await expect(signedIn()).rejects.toThrow(message);
});

test("a sign-in that nobody completes ends", async () => {
  answers = Array.from({ length: 20 }, () => ({ error: "authorization_pending" }));
  await expect(signedIn()).rejects.toThrow("the code has expired");
  expect(requests).toHaveLength(13);
});

async function store(more: Partial<SignIn> = {}, url = server): Promise<void> {
  await using _ = await signIns.lock(never);
  const signIn = { issuer, clientId: "cli", parameters: {}, accessToken: "old", ...more };
  signIns.put(url, signIn);
}

test("a token is for its server only, in a file that only its user can read", async () => {
  await store();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await currentToken(signIns, server, never)).toBe("old");
  expect(await currentToken(signIns, "https://other.example", never)).toBeUndefined();
});

test("processes renew a token that ends soon once, and keep a refresh token that stays valid", async () => {
  await store({ expiresAt: Date.now() + 10_000, refreshToken: "once" });
  answers = [{ access_token: "new", token_type: "bearer", expires_in: 600 }];
  const tokens = await Promise.all([1, 2, 3].map(() => currentToken(signIns, server, never)));
  expect(tokens).toEqual(["new", "new", "new"]);
  expect(requests).toEqual([
    { grant_type: "refresh_token", client_id: "cli", refresh_token: "once" },
  ]);
  expect(signIns.get(server)).toMatchObject({ accessToken: "new", refreshToken: "once" });
});

test("a sign-in that the provider does not renew names the command that repeats it", async () => {
  await store({ expiresAt: 1, refreshToken: "revoked" });
  answers = [{ error: "invalid_grant" }];
  await expect(currentToken(signIns, server, never)).rejects.toMatchObject({
    kind: "unauthenticated",
    message: `the sign-in at ${issuer} for ${server} has ended: invalid_grant; sign in again: reeve --url ${server} login`,
  });
  await store({ expiresAt: 1 });
  await expect(currentToken(signIns, server, never)).rejects.toThrow("cannot be renewed");
});

test("a provider that does not answer leaves the sign-in as it was", async () => {
  await store({ expiresAt: 1, refreshToken: "once" });
  await expect(currentToken(signIns, server, never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(signIns.get(server)).toMatchObject({ refreshToken: "once" });
});

test("a command that is aborted while it renews a token stores the successor", async () => {
  await store({ expiresAt: 1, refreshToken: "once" });
  const command = new AbortController();
  onRequest = () => command.abort(new Error("Ctrl-C"));
  answers = [{ ...granted, expires_in: 600 }];
  await expect(currentToken(signIns, server, command.signal)).rejects.toThrow("Ctrl-C");
  expect(signIns.get(server)).toMatchObject({ accessToken: "new", refreshToken: "next" });
});

/** Returns a JWT that ends after some seconds, signed by nobody. */
function jwtEndingIn(seconds: number): string {
  const exp = Math.floor(Date.now() / 1_000) + seconds;
  return `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.AA`;
}

test("a JWT is renewed before it ends, although the provider did not say when that is", async () => {
  await store({ accessToken: jwtEndingIn(10), refreshToken: "once" });
  answers = [granted];
  expect(await currentToken(signIns, server, never)).toBe("new");
  const later = jwtEndingIn(600);
  await store({ accessToken: later, refreshToken: "once" });
  expect(await currentToken(signIns, server, never)).toBe(later);
});

test("a token that ends soon is used while it cannot be renewed", async () => {
  const expiresAt = Date.now() + 25_000;
  await store({ expiresAt, refreshToken: "once" });
  answers = ["broken"];
  expect(await currentToken(signIns, server, never)).toBe("old");
  await store({ expiresAt });
  expect(await currentToken(signIns, server, never)).toBe("old");
});

test("a watch continues with a renewed token when its token expires", async () => {
  const given: (string | null)[] = [];
  const [first, ...rest] = shortRun(1);
  async function* watchRun(_: unknown, { requestHeader }: HandlerContext) {
    given.push(requestHeader.get("authorization"));
    if (given.length === 1) {
      yield { events: [first ?? {}], throughSequence: 1 };
      await store({ expiresAt: 1, refreshToken: "once" }, url);
      throw connectErrorOf(new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, "expired"));
    }
    yield { events: rest, throughSequence: 4, endStatus: RunStatus.COMPLETED };
  }
  const stop = new AbortController();
  const { url } = await smallServer(watchRun, 0, stop.signal);
  onTestFinished(() => stop.abort());
  await store({}, url);
  answers = [granted];
  const terminal = new MemoryTerminal();
  const environment = { REEVE_CONFIG_DIR: folder };
  const args = ["--url", url, "watch", "run_1", "--json"];
  expect(await runCli(args, { terminal, environment, signal: never })).toBe(0);
  expect(given).toEqual(["Bearer old", "Bearer new"]);
  expect(terminal.stderr).toBe("");
});

test("the lock of a process that died is removed", async () => {
  writeFileSync(`${file}.lock`, "");
  utimesSync(`${file}.lock`, 1, 1);
  await store();
  expect(readFileSync(file, "utf8")).toContain("old");
});

test("a process whose lock was removed as stale does not remove the lock of its successor", async () => {
  const lock = `${file}.lock`;
  const slow = await signIns.lock(never);
  utimesSync(lock, 1, 1);
  await using _ = await signIns.lock(never);
  const taken = readFileSync(lock, "utf8");
  await slow[Symbol.asyncDispose]();
  expect(readFileSync(lock, "utf8")).toBe(taken);
  expect(readdirSync(folder).filter((name) => name.startsWith("sign-ins.json.lock."))).toEqual([]);
});

test.each([
  [["login"], "give --issuer and --client-id"],
  [["login", "--issuer", "http://login.example", "--client-id", "c"], "must begin with https://"],
])("%s is refused with what is missing", async (args, message) => {
  const terminal = new MemoryTerminal();
  const environment = { REEVE_CONFIG_DIR: folder };
  expect(await runCli(["--url", server, ...args], { terminal, environment, signal: never })).toBe(
    2,
  );
  expect(terminal.stderr).toContain(message);
});

test.each([
  ["http://reeve.example", true],
  ["http://127.0.0.1:4680", false],
  [server, false],
])("a sign-in for %s warns that tokens are sent unencrypted: %s", async (url, isWarned) => {
  const terminal = new MemoryTerminal();
  const environment = { REEVE_CONFIG_DIR: folder };
  // No provider answers there.
  const args = ["--url", url, "login", "--issuer", "http://127.0.0.1:1", "--client-id", "c"];
  expect(await runCli(args, { terminal, environment, signal: never })).toBe(4);
  expect(terminal.stderr.includes(`send tokens to ${url} unencrypted`)).toBe(isWarned);
});

test("a damaged file of sign-ins is an error that names it", async () => {
  writeFileSync(file, "{");
  await expect(currentToken(signIns, server, never)).rejects.toThrow(
    `${file} is damaged; remove it`,
  );
});

/** Runs a command that needs no sign-in, for a server that gives everyone access. Returns what it notes. */
async function notesWithoutSignIn(environment: NodeJS.ProcessEnv): Promise<string> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { url } = await serveRuns({ listRuns: () => ({}) }, 0, stop.signal);
  const terminal = new MemoryTerminal();
  const code = await runCli(["--url", url, "runs"], { terminal, environment, signal: never });
  expect([code, terminal.stderr]).toEqual([0, terminal.stderr]);
  return terminal.stderr;
}

test("commands that need no sign-in work if the file of sign-ins is of no use, and say so", async () => {
  writeFileSync(file, "{");
  const environment = { REEVE_CONFIG_DIR: folder };
  expect(await notesWithoutSignIn(environment)).toContain(`${file} is damaged; remove it`);
  rmSync(file);
  mkdirSync(file);
  expect(await notesWithoutSignIn(environment)).toContain(`${file} cannot be read: EISDIR`);
});

test("a home that is no folder has no sign-ins", async () => {
  expect(await notesWithoutSignIn({ HOME: "/dev/null" })).not.toContain("sign-ins");
});
