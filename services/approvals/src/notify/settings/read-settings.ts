import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import type { Violation } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { isLoopback } from "@reeve/platform/config";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { invalidFile, parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import type { HttpReceiver, NotifySettings, Receiver } from "./receiver-schema.ts";
import { notifySettings } from "./receiver-schema.ts";
import type { ReadSecret } from "./secret-text.ts";

const setting = "REEVE_NOTIFY";
/** The shortest key of a signature, in bytes, as Standard Webhooks requires. */
const minKeyBytes = 24;

/**
 * Reads the file of REEVE_NOTIFY and every secret that it names. Throws a Failure with all problems of the file, or else with all
 * problems of its secrets.
 */
export async function readNotifySettings(
  path: string,
  readSecret: ReadSecret,
): Promise<NotifySettings> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw invalidConfig(setting, `${path} cannot be read`, cause);
  });
  const file = `${setting}: ${path}`;
  const settings = parseYamlFile(text, file, notifySettings);
  const violations = await Promise.all(
    settings.receivers.map((receiver, index) => violationsOf(receiver, index, readSecret)),
  );
  if (violations.flat().length > 0) throw invalidFile(file, violations.flat());
  return settings;
}

async function violationsOf(
  receiver: Receiver,
  index: number,
  readSecret: ReadSecret,
): Promise<readonly Violation[]> {
  const checks: [string, () => Promise<unknown>][] = [];
  if (receiver.format === "email") {
    const { password } = receiver.smtp;
    if (password !== undefined) checks.push(["smtp.password", () => readSecret(password)]);
  } else if (receiver.format !== "nats") checks.push(["url", () => urlOf(receiver, readSecret)]);
  if (receiver.format === "standard" || receiver.format === "nats") {
    checks.push(["secret", async () => signersOf(await readSecret(receiver.secret))]);
  }
  const found = checks.map(async ([field, check]) => {
    const problem = await check().then(
      () => undefined,
      (error: unknown) => (error instanceof Failure ? error.message : "is not usable"),
    );
    const path = `receivers[${index}].${field}`;
    return problem === undefined
      ? []
      : [{ field: path, description: problem, reason: "INVALID_FIELD" }];
  });
  return (await Promise.all(found)).flat();
}

/** Returns the URL of a receiver. Throws a Failure, which does not contain it, if it cannot be used. */
export async function urlOf(
  { url, allow_http: allowsHttp }: Pick<HttpReceiver, "url" | "allow_http">,
  readSecret: ReadSecret,
): Promise<string> {
  const text = typeof url === "string" ? url : await readSecret(url);
  if (!URL.canParse(text)) throw unusable("the url is not a URL");
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") {
    throw unusable("the url must not contain a user or a password");
  }
  const isPlain =
    protocol === "http:" && (allowsHttp || isLoopback(hostname.replace(/^\[|\]$/g, "")));
  if (protocol !== "https:" && !isPlain) {
    throw unusable(
      "the url must begin with https:// (http:// is for loopback addresses, and for others with allow_http)",
    );
  }
  return text;
}

/**
 * Returns what signs with each of the secrets in `text`, which has white space between them: two while a secret is replaced.
 * Throws a Failure, which does not contain them, if one cannot be used.
 */
export function signersOf(text: string): readonly Webhook[] {
  return text.split(/\s+/).map((secret) => {
    const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? "";
    const bytes = Buffer.from(encoded, "base64").length;
    if (bytes < minKeyBytes) {
      throw unusable(
        `a secret must be whsec_ and at least ${minKeyBytes} bytes in base64; create one with: echo "whsec_$(openssl rand -base64 32)"`,
      );
    }
    return new Webhook(secret);
  });
}

function unusable(problem: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
