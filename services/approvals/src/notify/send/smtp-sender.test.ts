import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import type { SMTPServerOptions } from "smtp-server";
import { expect, test } from "vitest";
import { startMailServer } from "../../../test/support/mail-server.ts";
import { notificationOf, noon, receiverOf } from "../../../test/support/notifications.ts";
import { secretReader } from "../settings/secret-text.ts";
import { smtpSender } from "./smtp-sender.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const password = "canary-of-the-password";

function senderTo(port: number, smtp: Readonly<Record<string, unknown>> = {}, timeoutMs = 60_000) {
  const receiver = receiverOf({
    format: "email",
    url: undefined,
    secret: undefined,
    smtp: { host: "127.0.0.1", port, tls: "none", ...smtp },
    from: "reeve@example.com",
    to: ["oncall@example.com", "lead@example.com"],
  });
  if (receiver.format !== "email") throw new Error("not a mail receiver");
  const options = {
    publicUrl: "https://reeve.example.com",
    timeoutMs,
    readSecret: secretReader({ PASSWORD: password }, new Redaction()),
    clock: new ManualClock(noon),
  };
  return smtpSender(receiver, options, log);
}

/** Sends a notification to a mail server. Returns what became of it, and the mails that the server has. */
async function send(options: SMTPServerOptions, smtp: Readonly<Record<string, unknown>> = {}) {
  await using server = await startMailServer(0, options);
  const outcome = await senderTo(server.port, smtp).send(notificationOf(), never);
  return { outcome, mails: [...server.mails] };
}

const onlyTo = (accepted: string): SMTPServerOptions => ({
  onRcptTo: ({ address }, _session, done) =>
    done(address === accepted ? null : Object.assign(new Error("no"), { responseCode: 550 })),
});

const withPassword = { user: "reeve", password: { environment: "PASSWORD" } };

test("a mail goes to all recipients, and has the same Message-ID when it is sent again", async () => {
  await using server = await startMailServer(0);
  const sender = senderTo(server.port);
  expect(await sender.send(notificationOf(), never)).toEqual({ kind: "delivered" });
  expect(await sender.send(notificationOf(), never)).toEqual({ kind: "delivered" });
  const [first = ""] = server.mails;
  expect(first).toContain("To: oncall@example.com, lead@example.com");
  expect(first).toContain("Subject: [Reeve] Approval requested: deploy");
  expect(first).toContain("https://reeve.example.com/inbox/run_abcdefgh-3-0");
  const ids = server.mails.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1]);
  expect(ids).toEqual(["<msg_1@example.com>", "<msg_1@example.com>"]);
});

test("a server without STARTTLS gets neither password nor mail", async () => {
  let attempts = 0;
  const options: SMTPServerOptions = {
    onAuth: (_auth, _session, done) => {
      attempts++;
      done(null, { user: "reeve" });
    },
  };
  const { outcome, mails } = await send(options, { ...withPassword, tls: "starttls" });
  expect(outcome.kind).not.toBe("delivered");
  expect([attempts, mails]).toEqual([0, []]);
});

test("a refused password is a refusal, and no problem contains the password", async () => {
  const { outcome } = await send(
    {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(new Error(`no ${password}`)),
    },
    withPassword,
  );
  expect(outcome).toEqual({ kind: "refused", problem: "the mail server refused the message: 535" });
});

test("a mail that one recipient gets is delivered, and one that nobody gets is refused", async () => {
  const partial = await send(onlyTo("lead@example.com"));
  expect(partial).toMatchObject({ outcome: { kind: "delivered" }, mails: [expect.anything()] });
  const none = await send(onlyTo("nobody@example.com"));
  expect(none).toMatchObject({ outcome: { kind: "refused" }, mails: [] });
});

test("a temporary answer, no answer, and no server mean unavailable", async () => {
  const busy = Object.assign(new Error("later"), { responseCode: 451 });
  const { outcome } = await send({ onMailFrom: (_address, _session, done) => done(busy) });
  expect(outcome).toMatchObject({ kind: "unavailable", problem: expect.stringContaining("451") });
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  expect(await senderTo(port, {}, 200).send(notificationOf(), never)).toMatchObject({
    kind: "unavailable",
  });
  silent.close();
  await once(silent, "close");
  expect(await senderTo(port).send(notificationOf(), never)).toMatchObject({ kind: "unavailable" });
});
