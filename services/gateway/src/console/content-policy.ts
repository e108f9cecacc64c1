import type { ConsoleSignIn } from "./console-sign-in.ts";

/**
 * Returns the content security policy of the page. It may load scripts and styles from the gateway alone, and send requests to it and to
 * the provider of its sign-ins alone; nobody may frame it. Text of models and tools that a browser would execute is therefore inert, even if
 * the page failed to sanitize it.
 */
export function contentPolicy(
  signIn: Pick<ConsoleSignIn, "issuer" | "connectOrigins"> | undefined,
): string {
  const provider =
    signIn === undefined ? [] : [new URL(signIn.issuer).origin, ...signIn.connectOrigins];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", ...new Set(provider)].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
