import { create } from "@bufbuild/protobuf";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { NotificationEvent } from "@reeve/contracts/notification";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { notificationOf } from "../../../test/support/notifications.ts";
import { linkTo } from "./describe.ts";
import { emailMessage } from "./email.ts";
import { slackMessage } from "./slack.ts";
import { standardMessage } from "./standard.ts";
import { teamsMessage } from "./teams.ts";

const publicUrl = "https://reeve.example.com/";
const link = "https://reeve.example.com/inbox/run_abcdefgh-3-0";
const formats = [standardMessage, slackMessage, teamsMessage, emailMessage] as const;

const hostile = "<!channel> [click](https://evil.example) \r\nBcc: eve@evil.example\u202E";

function resolved(reason = "reviewed") {
  const decision = create(DecisionSchema, { approved: true, decidedBy: "grace", reason });
  const state = ApprovalState.APPROVED;
  return { ...notificationOf({ state, decision }), event: NotificationEvent.RESOLVED };
}

test.each(formats)("%o has the tool, the requester, and a link without a credential", (format) => {
  const text = JSON.stringify(format(notificationOf(), publicUrl));
  expect(text).toContain("deploy");
  expect(text).toContain("ada");
  const links = [...text.matchAll(/https?:[^"\\\s]*/g)].map(([each]) => each);
  expect(links.filter((each) => !each.startsWith("http://adaptivecards.io/"))).toEqual([link]);
});

test.each(formats)("%o says who decided and why", (format) => {
  const text = JSON.stringify(format(resolved(), publicUrl));
  expect(text).toMatch(/approved/i);
  expect(text).toContain("grace");
  expect(text).toContain("reviewed");
});

test.each(formats)("%o says that a grant decided, and not the person in person", (format) => {
  const notification = resolved();
  const decision = create(DecisionSchema, {
    approved: true,
    decidedBy: "grace",
    appliedGrant: { grantId: "grant_1" },
  });
  const approval = { ...notification.approval, decision };
  const text = JSON.stringify(
    format({ ...notification, approval } as typeof notification, publicUrl),
  );
  expect(text).toContain("grant_1");
  expect(text).toContain("grace");
  expect(text).not.toMatch(/Decided by[^ ]/);
});

test("a link stays one path, whatever the id of the approval", () => {
  expect(linkTo("https://reeve.example.com/base", "../x?y#z")).toBe(
    "https://reeve.example.com/base/inbox/..%2Fx%3Fy%23z",
  );
});

test("Slack interprets nothing of a value", () => {
  const call = create(ToolCallSchema, { name: hostile });
  const message = slackMessage({ ...notificationOf({ call }), arguments: hostile }, publicUrl);
  expect(message.text).toContain("&lt;!channel&gt;");
  const types = [...JSON.stringify(message.blocks).matchAll(/"type":"([^"]+)"/g)];
  expect(new Set(types.map(([, type]) => type))).toEqual(
    new Set(["header", "plain_text", "section", "actions", "button"]),
  );
});

test("Slack accepts the sizes, however long the values are", () => {
  const call = create(ToolCallSchema, { name: "x".repeat(10_000) });
  const decision = create(DecisionSchema, {
    reason: "y".repeat(4_096),
    decidedBy: "z".repeat(999),
  });
  const { blocks } = slackMessage(
    { ...notificationOf({ call, decision }), arguments: "a".repeat(4_001) },
    publicUrl,
  );
  const texts = [...JSON.stringify(blocks).matchAll(/"text":"([^"]*)"/g)].map(
    ([, text = ""]) => text,
  );
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(3_000);
  expect(texts[0]?.length).toBeLessThanOrEqual(150);
  const fields = blocks.flatMap((block) => ("fields" in block ? (block.fields ?? []) : []));
  expect(fields.length).toBeLessThanOrEqual(10);
});

test("Teams gets values as text runs only, in which it interprets no Markdown", () => {
  const text = JSON.stringify(teamsMessage(resolved(hostile), publicUrl));
  expect(text).toContain('{"type":"TextRun","text":"<!channel> [click]');
  expect(text).not.toContain('"TextBlock"');
});

test("an e-mail has a subject of one line, and no HTML", () => {
  const call = create(ToolCallSchema, { name: hostile });
  const mail = emailMessage(notificationOf({ call }), publicUrl);
  expect(mail.subject).not.toMatch(/[\r\n\u202E]/);
  expect(Object.keys(mail)).toEqual(["subject", "text"]);
  expect(mail.text.split("\n").some((line) => line.startsWith("Bcc:"))).toBe(false);
});

test("programs get the times, the state, and arguments only if there are any", () => {
  const { type, timestamp, data } = standardMessage(notificationOf(), publicUrl);
  expect([type, timestamp]).toEqual(["approval.requested", "2026-01-01T12:00:00.000Z"]);
  expect(data).toMatchObject({ tenant: "acme", state: "pending", url: link });
  expect(JSON.parse(JSON.stringify(data))).not.toHaveProperty("arguments");
  expect(standardMessage(resolved(), publicUrl)).toMatchObject({
    type: "approval.resolved",
    data: { state: "approved", decision: { approved: true, decided_by: "grace" } },
  });
});
