import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { openConnection } from "@reeve/client";
import { ApprovalState } from "@reeve/contracts/approval";
import { openRunLog } from "@reeve/jetstream/log/open";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, expectCompleted, watchToEnd } from "./support/watching.ts";

const never = new AbortController().signal;
const starter = "token-of-ann-0123456789";

/**
 * Waits for a file with the approval and the addresses, then tries to read and to decide: with every text of its environment that may be a
 * credential, with ids that it knows, and without any. The access to the ports of gateway and approvals is what the agent may have at most.
 */
const attack = `
import json, os, re, time, urllib.error, urllib.request
for name in ("no_proxy", "NO_PROXY"): os.environ.pop(name, None)
def target():
    while True:
        try: return json.load(open("target.json"))
        except (FileNotFoundError, ValueError): time.sleep(0.05)
given = target()
def ask(url, method, headers):
    body = given["requests"][method]
    path = f"{url}/reeve.approval.v1.ApprovalService/{method}"
    headers = {"content-type": "application/json", **headers}
    request = urllib.request.Request(path, json.dumps(body).encode(), headers)
    try: return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as refusal: return refusal.code
    except Exception as problem: return type(problem).__name__
words = re.findall(r"[\\w.+/=-]{4,}", "\\n".join(os.environ.values()))
found = sorted(set(words) | set(given["ids"]))
bearer = lambda token: {"authorization": f"Bearer {token}"}
forged = {"reeve-tenant": "acme", "reeve-subject": "tester", "reeve-groups": "role:approver"}
services = ["gateway", "approvals"]
without = [ask(given[service], method, forged) for method in given["requests"] for service in services]
tried = {}
for service in services:
    for method in ["GetApproval", "DecideApproval"]:
        tried[f"{service} {method}"] = [ask(given[service], method, {**forged, **bearer(each)}) for each in found]
json.dumps({
    "without": without,
    "tried": tried,
    "reached": ask(given["gateway"], "ListApprovals", bearer(given["starter"])),
    "decided by the starter": ask(given["gateway"], "DecideApproval", bearer(given["starter"])),
})`;

/** The modules of the attack. */
const imports = ["json", "os", "re", "time", "urllib.error", "urllib.request"];

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    // With the first call, the run has a workspace.
    if (results === 0)
      return { calls: [{ name: "write_file", args: { path: "a", content: "a" } }] };
    if (results > 1) return { text: "done" };
    const list = { name: "list_files", args: {} };
    return { calls: [list, { name: "execute_code", args: { code: attack } }] };
  });
  deployment = await Deployment.start({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    REEVE_TOKENS: `test-token-0123456789=acme/tester,${starter}=acme/ann/runner`,
    REEVE_NETWORK_ALLOW: "localhost:*",
    REEVE_NETWORK_RANGES: "127.0.0.1,::1",
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

/** Returns the address of a service as a sandbox names it. */
const inSandbox = (url: string) => `http://localhost:${new URL(url).port}`;

function approvalsUrl(): string {
  const line = deployment.logged.find((each) => each.includes("approvals listens")) ?? "{}";
  return (JSON.parse(line) as { readonly url: string }).url;
}

/** Returns the result of a call in the log of a run that has not ended. */
async function resultOf(runId: string, tool: string): Promise<string> {
  const log = await openRunLog(deployment.nats);
  for await (const { events } of log.follow({ tenant: "acme", run: runId }, 0, never)) {
    for (const { event } of events) {
      const { result } = event.case === "toolResult" ? event.value : {};
      if (result?.name === tool) return result.content;
    }
  }
  throw new Error(`the log of ${runId} ended`);
}

interface Tried {
  /** The outcome of each method at each service, without a credential. */
  readonly without: readonly (number | string)[];
  /** The outcome with each text that may be a credential, by service and method. */
  readonly tried: Readonly<Record<string, readonly (number | string)[]>>;
  readonly reached: number;
  readonly "decided by the starter": number;
}

// Requirement: HITL-8
test("code in a sandbox that reaches the services finds no credential with which it reads, votes, or decides", async () => {
  const [gateway, approvals] = [deployment.url, approvalsUrl()].map(inSandbox);
  const allow = [gateway, approvals].map((url) => (url ?? "").replace("http://", ""));
  await deployment.agent("attacker", {
    model: "openai:any",
    permissionClasses: ["execute"],
    hitlTools: ["list_files"],
    approvalPolicy: { alternatives: [{ name: "one", people: ["tester", "ann"] }] },
    deepAgent: {
      allowedImports: fromJson(ListValueSchema, imports),
      network: { allow },
      codeTimeout: { seconds: 240n },
    },
  });
  using ann = openConnection({ address: deployment.url, token: starter });
  const { run } = await ann.runs.startRun({ agentId: "attacker", input: "go" });
  const runId = run?.runId ?? "";
  const { event } = await eventOf(deployment, runId, "approval");
  const approvalId = event.case === "approval" ? (event.value.approval?.approvalId ?? "") : "";
  const decision = { approved: true, reason: "as the agent" };
  const target = {
    gateway,
    approvals,
    starter,
    ids: [runId, approvalId, "acme", "attacker"],
    requests: {
      ListApprovals: {},
      GetApproval: { approvalId },
      CountApprovals: {},
      DecideApproval: { approvalId, ...decision },
      DecideApprovals: { decided: [{ approvalId }], ...decision },
    },
  };
  await deployment.reeve.files.writeFile({
    runId,
    path: "target.json",
    source: { case: "content", value: new TextEncoder().encode(JSON.stringify(target)) },
  });
  const { result } = JSON.parse(await resultOf(runId, "execute_code")) as {
    readonly result: string;
  };
  const outcome = JSON.parse(result) as Tried;
  // The code reached the gateway, and the credential of the person who started the run may read, but not decide.
  expect(outcome).toMatchObject({ reached: 200, "decided by the starter": 403 });
  const requests = Object.keys(target.requests);
  expect(outcome.without).toEqual(requests.flatMap(() => [401, 401]));
  const tried = ["gateway", "approvals"].flatMap((service) =>
    ["GetApproval", "DecideApproval"].map((method) => `${service} ${method}`),
  );
  expect(Object.keys(outcome.tried)).toEqual(tried);
  for (const statuses of Object.values(outcome.tried)) {
    expect(statuses.length).toBeGreaterThanOrEqual(target.ids.length);
    // After some wrong credentials, the gateway does not look at further ones.
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  }
  const { approval } = await deployment.reeve.approvals.getApproval({ approvalId });
  expect(approval).toMatchObject({ state: ApprovalState.PENDING, votes: [] });
  await deployment.reeve.approvals.decideApproval({ approvalId, approved: true });
  expectCompleted(await watchToEnd(deployment, runId));
});
