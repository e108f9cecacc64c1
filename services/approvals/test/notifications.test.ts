import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { NotificationService } from "@reeve/contracts/notification";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { startProcess } from "./support/child-process.ts";
import { startMailServer } from "./support/mail-server.ts";
import { freePort, openNotifyBench } from "./support/notify-bench.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const receiverProgram = join(import.meta.dirname, "support/webhook-receiver.py");

interface Received {
  readonly genuine: boolean;
  readonly id: string;
  readonly body: { readonly type: string; readonly data: Record<string, unknown> };
}

const startReceiver = (port: number, itsSecret = secret, aheadSeconds = 0) =>
  startProcess(
    ["python3", receiverProgram, String(port), itsSecret, String(aheadSeconds)],
    process.env,
    "ready",
  );

/** Every request that a receiver got. */
function attemptsAt({ lines }: { readonly lines: readonly string[] }): readonly Received[] {
  return lines.slice(1).map((line) => JSON.parse(line) as Received);
}

/**
 * The messages that a receiver got. A machine that is busy for longer than the ack-wait sends a message again, with the same id, by which receivers
 * know it: it counts once.
 */
function receivedBy(receiver: { readonly lines: readonly string[] }): readonly Received[] {
  return [...new Map(attemptsAt(receiver).map((each) => [each.id, each])).values()];
}

/** The ids of the mails of a server, each once. */
function mailIds({
  mails,
}: {
  readonly mails: readonly string[];
}): readonly (string | undefined)[] {
  return [...new Set(mails.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1]))];
}

const patient = { timeout: 120_000 };

const as = (tenant: string) => ({
  headers: principalHeaders({ tenant, subject: "ann" }, "internal-token-of-a-test"),
});

/** Returns what a service of approvals says about notifications that were given up. */
function deadAt(url: string) {
  const notifications = createClient(NotificationService, createGrpcTransport({ baseUrl: url }));
  const dead = async (tenant: string) =>
    (await notifications.listDeadNotifications({}, as(tenant))).notifications;
  return { notifications, dead };
}

test("a webhook in Python and a mail server get every message once after an outage, across a kill", async () => {
  const [webhookPort, mailPort] = [await freePort(), await freePort()];
  await using bench = await openNotifyBench((folder) => {
    writeFileSync(join(folder, "secret"), `${secret}\n`);
    return `
receivers:
  - name: on-call
    format: standard
    url: http://127.0.0.1:${webhookPort}/hooks
    secret: { file: ${folder}/secret }
  - name: mail
    format: email
    smtp: { host: 127.0.0.1, port: ${mailPort}, tls: none }
    from: reeve@example.com
    to: [oncall@example.com]
    events: [requested]
retry: { first_seconds: 0.2, max_seconds: 1 }
`;
  });
  const first = await bench.startApprovals();
  const call = { callId: "call_1", name: "deploy", arguments: { token: "canary-argument" } };
  const runs = await Promise.all([
    bench.park({ call }),
    bench.park({ call }),
    bench.park({ call }),
  ]);
  const [approved, withdrawn] = runs;
  // Both receivers are down. The attempts of the first process fail, and it dies.
  await expect
    .poll(() => first.lines.filter((line) => line.includes("was not delivered")).length)
    .toBeGreaterThan(1);
  await first.kill();
  const decision = { approved: true, decidedBy: "ada", reason: "reviewed" };
  const approval = { approvalId: `${approved}-2-0`, runId: approved, call, decision };
  await bench.append(approved, {
    case: "approval",
    value: { approval: { ...approval, state: ApprovalState.APPROVED } },
  });
  await bench.append(withdrawn, { case: "status", value: { status: RunStatus.CANCELLED } });
  await bench.startApprovals();
  await bench.startApprovals();
  await using receiver = await startReceiver(webhookPort);
  await using mailServer = await startMailServer(mailPort);
  // What the killed process held is delivered again after the ack-wait, of the feed and then of the queue.
  await expect.poll(() => receivedBy(receiver).length, patient).toBeGreaterThanOrEqual(5);
  await expect.poll(() => mailIds(mailServer).length, patient).toBeGreaterThanOrEqual(3);
  await expect.poll(() => bench.queued(), patient).toBe(0);

  const received = receivedBy(receiver);
  expect(received.every(({ genuine }) => genuine)).toBe(true);
  const outcomes = received.map(({ body: { type, data } }) => `${type} ${String(data["state"])}`);
  expect(outcomes.toSorted()).toEqual([
    "approval.requested pending",
    "approval.requested pending",
    "approval.requested pending",
    "approval.resolved approved",
    "approval.resolved withdrawn",
  ]);
  expect(received.map(({ body: { data } }) => data)).toContainEqual(
    expect.objectContaining({
      approval_id: `${approved}-2-0`,
      tool: "deploy",
      decision: expect.objectContaining({ decided_by: "ada", reason: "reviewed" }) as unknown,
      url: `https://reeve.example.com/inbox/${approved}-2-0`,
    }),
  );
  expect(mailIds(mailServer)).toHaveLength(3);
  expect(JSON.stringify([received, mailServer.mails])).not.toContain("canary-argument");
});

const daySeconds = 86_400;

test("a webhook in Python and a mail server that are away for a day get every message once, and one that stays away is reported", async () => {
  const [webhookPort, mailPort, gonePort] = [await freePort(), await freePort(), await freePort()];
  await using bench = await openNotifyBench(
    () => `
receivers:
  - { name: on-call, format: standard, url: "http://127.0.0.1:${webhookPort}/", secret: { environment: SECRET } }
  - { name: gone, format: standard, url: "http://127.0.0.1:${gonePort}/", secret: { environment: SECRET } }
  - name: mail
    format: email
    smtp: { host: 127.0.0.1, port: ${mailPort}, tls: none }
    from: reeve@example.com
    to: [oncall@example.com]
retry: { first_seconds: 0.2, max_seconds: 1, give_up_hours: 30 }
`,
    { SECRET: secret },
  );
  const approvals = await bench.startApprovals();
  const runs = [await bench.park(), await bench.park(), await bench.park()];
  const { dead } = deadAt(approvals.url);
  const failures = () =>
    approvals.lines.flatMap((line) => {
      if (!line.includes("was not delivered")) return [];
      const { time, receiver } = JSON.parse(line) as { time: string | number; receiver: string };
      return [{ receiver, timeMs: new Date(time).getTime() }];
    });
  const failedSince = (timeMs: number) =>
    new Set(failures().flatMap((each) => (each.timeMs >= timeMs ? each.receiver : [])));
  const all = new Set(["on-call", "gone", "mail"]);
  await expect.poll(() => failedSince(0), patient).toEqual(all);

  // A day passes, in which all three were away, and still are.
  const dayMs = daySeconds * 1_000;
  const nextDayMs = Date.now() + dayMs;
  bench.setClock(dayMs);
  await expect.poll(() => failedSince(nextDayMs), patient).toEqual(all);
  await using receiver = await startReceiver(webhookPort, secret, daySeconds);
  await using mailServer = await startMailServer(mailPort);
  // The others are those for the receiver that is gone.
  await expect.poll(() => bench.queued(), patient).toBe(runs.length);
  await expect.poll(() => receivedBy(receiver).length, patient).toBe(runs.length);
  const received = receivedBy(receiver);
  expect(received.map(({ genuine }) => genuine)).toEqual(runs.map(() => true));
  const notified = received.map(({ body }) => String(body.data["run_id"]));
  expect(notified.toSorted()).toEqual(runs);
  expect(mailIds(mailServer)).toHaveLength(runs.length);
  expect(await dead("acme")).toEqual([]);

  // The second day is longer than the limit for the one that is still away.
  bench.setClock(2 * dayMs);
  await expect.poll(() => bench.queued(), patient).toBe(0);
  const given = (await dead("acme")).map(({ notification }) => notification);
  expect(given.map((each) => each?.approval?.runId ?? "").toSorted()).toEqual(runs);
  expect(new Set(given.map((each) => each?.receiver))).toEqual(new Set(["gone"]));
  expect(receivedBy(receiver)).toHaveLength(runs.length);
  expect(mailIds(mailServer)).toHaveLength(runs.length);
});

test("what a receiver refuses again and again becomes a dead letter, which an operator replays", async () => {
  const port = await freePort();
  await using bench = await openNotifyBench(
    () => `
receivers:
  - name: on-call
    format: standard
    url: http://127.0.0.1:${port}/
    secret: { environment: SECRET }
    events: [requested]
retry: { first_seconds: 0.05, max_seconds: 0.1 }
`,
    { SECRET: secret },
  );
  const approvals = await bench.startApprovals();
  const other = `whsec_${randomBytes(32).toString("base64")}`;
  const refusing = await startReceiver(port, other);
  const run = await bench.park();
  const { notifications, dead } = deadAt(approvals.url);
  await expect.poll(() => dead("acme")).toHaveLength(1);
  await refusing.kill();
  const [letter] = await dead("acme");
  expect(letter).toMatchObject({
    attempts: 5,
    problem: "the receiver answered with status 401",
    notification: { receiver: "on-call", approval: { runId: run } },
  });
  expect(attemptsAt(refusing).map(({ genuine }) => genuine)).toEqual(Array(5).fill(false));
  expect(await dead("globex")).toEqual([]);

  await using receiver = await startReceiver(port);
  const notificationId = letter?.notification?.notificationId ?? "";
  const replay = (tenant: string) =>
    notifications.replayNotification({ notificationId }, as(tenant));
  await expect(replay("globex")).rejects.toThrow(/no notification .* was given up/);
  await replay("acme");
  await expect.poll(() => bench.queued(), patient).toBe(0);
  await expect.poll(() => receivedBy(receiver).length, patient).toBe(1);
  expect(receivedBy(receiver)).toMatchObject([{ genuine: true, id: notificationId }]);
  expect(await dead("acme")).toEqual([]);
});

test("a program on the bus gets every message once, with the signature of a webhook", async () => {
  await using bench = await openNotifyBench((folder) => {
    writeFileSync(join(folder, "secret"), `${secret}\n`);
    return `
receivers:
  - { name: pager, format: nats, events: [requested], secret: { file: ${folder}/secret } }
retry: { first_seconds: 0.2, max_seconds: 1 }
`;
  });
  await bench.startApprovals();
  const call = { callId: "call_1", name: "deploy", arguments: { token: "canary-argument" } };
  const run = await bench.park({ call });
  await expect.poll(() => bench.notice(1), patient).toBeDefined();
  const notice = await bench.notice(1);
  expect(notice?.subject).toBe("approval.notice.pager.acme");
  const headers = Object.fromEntries(notice?.headers ?? []);
  expect(headers["Nats-Msg-Id"]).toBe(headers["webhook-id"]);
  const body = new Webhook(secret).verify(notice?.body ?? "", headers);
  expect(body).toMatchObject({
    type: "approval.requested",
    data: { tenant: "acme", run_id: run, tool: "deploy" },
  });
  expect(notice?.body).not.toContain("canary-argument");
  await expect.poll(() => bench.queued()).toBe(0);
  expect(await bench.notice(2)).toBeUndefined();
});
