import { isLoopback } from "@reeve/platform/config";
import { z } from "zod";
import { secretReference } from "./secret-text.ts";

const maxReceivers = 50;
const maxRecipients = 50;

const names = z.array(z.string().min(1)).min(1);

/** What receivers of all formats have. */
const anyReceiver = {
  /** Part of subjects and of consumers' names at NATS. */
  name: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "must be lower-case letters, digits, and -"),
  events: z
    .array(z.enum(["requested", "escalated", "resolved", "break_glass", "run_ended"]))
    .min(1)
    .default(["requested", "escalated", "resolved", "break_glass"]),
  /** Default: all tenants. */
  tenants: names.optional(),
  /** Ids of agents. Default: all agents. */
  agents: names.optional(),
  /** Whether messages contain the arguments of the call, which may be confidential. */
  include_arguments: z.boolean().default(false),
};

const httpReceiver = {
  ...anyReceiver,
  /** A reference, if who knows the URL may post to it. */
  url: z.union(
    [z.string(), secretReference],
    "must be a URL, or `file:` or `environment:` with one",
  ),
  /** Permits `http:` to other hosts: everyone on the way can then read the messages. */
  allow_http: z.boolean().default(false),
};

const address = z.string().regex(/^[^\s<>@,;"]+@[^\s<>@,;"]+$/, "must be an e-mail address");

const smtp = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(587),
    /** `starttls` requires the command STARTTLS; `implicit` begins with TLS; `none` has no encryption. */
    tls: z.enum(["starttls", "implicit", "none"]).default("starttls"),
    user: z.string().min(1).optional(),
    password: secretReference.optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ["password"],
    message: "user and password must be set together",
  })
  .refine(({ tls, user, host }) => tls !== "none" || user === undefined || isLoopback(host), {
    path: ["tls"],
    message: "must not be none with a password, except for a loopback address",
  });

const receiver = z.discriminatedUnion("format", [
  z.strictObject({
    ...httpReceiver,
    format: z.literal("standard"),
    /** Signs the messages, as Standard Webhooks specifies. */
    secret: secretReference,
  }),
  z.strictObject({
    ...anyReceiver,
    format: z.literal("nats"),
    /** Signs the messages, as those of webhooks. */
    secret: secretReference,
  }),
  z.strictObject({ ...httpReceiver, format: z.literal("slack") }),
  z.strictObject({ ...httpReceiver, format: z.literal("teams") }),
  z.strictObject({
    ...anyReceiver,
    format: z.literal("email"),
    smtp,
    from: address,
    to: z.array(address).min(1).max(maxRecipients),
  }),
]);

export type Receiver = z.infer<typeof receiver>;
export type HttpReceiver = Exclude<Receiver, { readonly format: "email" | "nats" }>;
export type NatsReceiver = Extract<Receiver, { readonly format: "nats" }>;
export type SignedReceiver = Extract<Receiver, { readonly format: "nats" | "standard" }>;
export type EmailReceiver = Extract<Receiver, { readonly format: "email" }>;

const seconds = (max: number) => z.number().min(0.05).max(max);

/** The file of REEVE_NOTIFY. */
export const notifySettings = z.strictObject({
  receivers: z
    .array(receiver)
    .min(1)
    .max(maxReceivers)
    .superRefine((receivers, context) => {
      for (const [index, { name }] of receivers.entries()) {
        if (receivers.findIndex((each) => each.name === name) === index) continue;
        context.addIssue({
          code: "custom",
          path: [index, "name"],
          message: `"${name}" is the name of another receiver`,
        });
      }
    }),
  /** How long an attempt may take. */
  timeout_seconds: seconds(60).default(10),
  /** How old what happened may be when it is published, for example after nobody was notified for some days. */
  max_age_hours: z.number().min(0.001).max(240).default(24),
  retry: z
    .strictObject({
      /** The delay after the first attempt. It doubles with each further one. */
      first_seconds: seconds(3_600).default(5),
      max_seconds: seconds(3_600).default(3_600),
      /** How long a receiver may be unreachable. */
      give_up_hours: z.number().min(0.001).max(240).default(72),
    })
    .refine(({ first_seconds: first, max_seconds: max }) => first <= max, {
      path: ["max_seconds"],
      message: "must not be less than first_seconds",
    })
    .prefault({}),
});

export type NotifySettings = z.infer<typeof notifySettings>;
