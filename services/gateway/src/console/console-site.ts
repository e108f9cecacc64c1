import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";
import type { PlainSite } from "@reeve/platform/rpc/http/plain-site";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ConsoleFile } from "./console-files.ts";
import { readConsoleFiles } from "./console-files.ts";
import { asksForPage, isScreen, mayBeMistyped } from "./console-paths.ts";
import type { ConsoleSignIn } from "./console-sign-in.ts";
import { signInPath } from "./console-sign-in.ts";
import { contentPolicy } from "./content-policy.ts";

const missing = `The console is not built on this gateway.

In a clone of Reeve, \`npm start\` builds it, and so does \`npm run console:build\`. Then start the gateway again.
REEVE_CONSOLE_DIR names another folder with a build, and REEVE_CONSOLE=false switches the console off.
`;

const securityHeaders: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Serves the console to browsers: its files, and its page for the address of every screen, and with status 404 for one that a person
 * may have mistyped. Programs that read `/` get what a
 * gateway without a console answers. Without a build, browsers read how to build it.
 */
export function consoleSite(
  folder: string,
  signIn: ConsoleSignIn | undefined,
  log: Logger,
): PlainSite {
  const files = readConsoleFiles(folder);
  const policy = contentPolicy(signIn);
  if (files === undefined) log.warn({ folder }, "the console is not built");
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isKnown = isScreen(path);
    const isPage = (isKnown || mayBeMistyped(path)) && asksForPage(request.headers.accept);
    if (files === undefined) {
      if (!isPage || !isKnown) return false;
      answer(response, { status: path === "/" ? 200 : 404, text: missing });
      return true;
    }
    if (path === signInPath) {
      const text = JSON.stringify({ ...signIn, connectOrigins: undefined });
      answer(response, { status: 200, text, type: "application/json" });
      return true;
    }
    const file = isPage ? files.get("/index.html") : files.get(path);
    if (file === undefined) return false;
    response.setHeader("content-security-policy", policy);
    // The page says that there is no such screen.
    if (isPage && !isKnown) response.statusCode = 404;
    void send(request, response, file).catch((error: unknown) => {
      log.debug({ err: error, path }, "client disconnected");
      response.destroy();
    });
    return true;
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

function answer(
  response: HttpResponse,
  { status, text, type = "text/plain; charset=utf-8" }: Answer,
): void {
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("cache-control", "no-store");
  response.end(text);
}

async function send(
  request: HttpRequest,
  response: HttpResponse,
  { type, bytes, etag, isImmutable, compressed }: ConsoleFile,
): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  response.setHeader("content-type", type);
  response.setHeader("etag", etag);
  response.setHeader("vary", "accept, accept-encoding");
  response.setHeader(
    "cache-control",
    isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
  );
  if (response.statusCode !== 404 && request.headers["if-none-match"] === etag) {
    response.statusCode = 304;
    return void response.end();
  }
  const acceptsGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  const packed = acceptsGzip ? await compressed?.() : undefined;
  if (packed !== undefined) response.setHeader("content-encoding", "gzip");
  const body = packed ?? bytes;
  response.setHeader("content-length", body.byteLength);
  if (request.method === "HEAD") return void response.end();
  response.end(body);
}
