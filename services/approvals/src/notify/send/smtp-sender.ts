import { onAbort } from "@reeve/platform/async/on-abort";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { emailMessage } from "../formats/email.ts";
import type { EmailReceiver } from "../settings/receiver-schema.ts";
import type { SenderOptions } from "./http-sender.ts";
import type { Attempt, Sender } from "./sender.ts";

/**
 * Returns what sends notifications as e-mail. The Message-ID follows from the id of the notification: a mail that is sent again
 * has the same one, by which mail servers and programs recognize it.
 */
export function smtpSender(
  receiver: EmailReceiver,
  { publicUrl, timeoutMs, readSecret }: SenderOptions,
  log: Logger,
): Sender {
  const { from, to } = receiver;
  const domain = from.slice(from.lastIndexOf("@") + 1);
  return {
    async send(notification, signal): Promise<Attempt> {
      const { notificationId } = notification;
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        // Only deployments with mail need it.
        const { createTransport } = await import("nodemailer");
        const transport = createTransport(await transportOptions(receiver, readSecret, timeoutMs));
        using closing = new DisposableStack();
        closing.defer(() => transport.close());
        using _ = onAbort(bounded, () => transport.close());
        const sending = transport.sendMail({
          ...emailMessage(notification, publicUrl),
          from,
          to,
          messageId: `<${notificationId}@${domain}>`,
          headers: { "Auto-Submitted": "auto-generated" },
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        const { rejected } = await abortable(sending, bounded);
        // The others have it: to send it again would repeat it for them.
        if (rejected.length > 0) {
          log.error(
            { receiver: receiver.name, notificationId, rejected: rejected.length },
            "the mail server refused some recipients of a notification",
          );
        }
        return { kind: "delivered" };
      } catch (error) {
        signal.throwIfAborted();
        return failureOf(error, bounded.aborted, timeoutMs);
      }
    },
  };
}

async function transportOptions(
  { smtp }: EmailReceiver,
  readSecret: SenderOptions["readSecret"],
  timeoutMs: number,
) {
  const { host, port, tls, user, password } = smtp;
  return {
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    ...(user !== undefined &&
      password !== undefined && { auth: { user, pass: await readSecret(password) } }),
  };
}

/** The texts of servers may repeat what they were sent. Only their codes are passed on. */
function failureOf(error: unknown, isLate: boolean, timeoutMs: number): Attempt {
  if (error instanceof Failure) return { kind: "unavailable", problem: error.message };
  if (isLate) {
    const problem = `the mail server did not answer within ${timeoutMs / 1_000} seconds`;
    return { kind: "unavailable", problem };
  }
  const fields: object = typeof error === "object" && error !== null ? error : {};
  const status = "responseCode" in fields ? Number(fields.responseCode) : 0;
  if (status >= 500) {
    return { kind: "refused", problem: `the mail server refused the message: ${status}` };
  }
  const code = status > 0 ? status : "code" in fields ? String(fields.code) : "unknown error";
  return { kind: "unavailable", problem: `the mail server did not take the message: ${code}` };
}
