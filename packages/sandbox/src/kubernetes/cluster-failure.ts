import { ErrorReason } from "@reeve/contracts/error";
import type { FailureKind } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { ClusterRequest } from "./cluster-request.ts";

const statusOf = z.object({ message: z.string().optional(), reason: z.string().optional() });
const verbs = { GET: "get", POST: "create", PUT: "update", DELETE: "delete" } as const;
const kinds: Readonly<Record<number, FailureKind>> = {
  401: "unauthenticated",
  403: "denied",
  404: "not_found",
  409: "conflict",
  410: "out_of_range",
  422: "invalid",
};

/** What a cluster refuses, with what it says of it and what would help. */
export function refusal(
  asking: Pick<ClusterRequest, "method" | "path">,
  status: number,
  said: string,
) {
  const message = messageOf(said) || `status ${status}`;
  const problem = `the cluster refuses ${asking.method} ${asking.path.split("?")[0]}: ${message}`;
  const isQuota = status === 403 && /exceeded quota/i.test(message);
  const kind = isQuota ? "exhausted" : (kinds[status] ?? "unavailable");
  const wayOut = isQuota ? quotaWay : status === 403 ? rightsWay(asking, message) : ways[status];
  const reason = kind === "denied" ? ErrorReason.PERMISSION_DENIED : ErrorReason.UNAVAILABLE;
  return new Failure(kind, reason, wayOut === undefined ? problem : `${problem}; ${wayOut}`);
}

/** A cluster that does not answer. What is a Failure already stays as it is. */
export function unreachable(server: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  const problem = `the API server ${server} does not answer: ${why}; see whether it runs, and whether a network policy keeps toolhosts from it`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}

const quotaWay = "end other sandboxes, or raise the ResourceQuota of the namespace";
const ways: Readonly<Record<number, string>> = {
  401: "the token of the toolhost is not taken: is it mounted, and does it last?",
};

/** Pod security and other admission answer 403 as missing rights do. */
function rightsWay({ method, path }: Pick<ClusterRequest, "method" | "path">, message: string) {
  if (/violates PodSecurity/i.test(message)) {
    return "let the namespace enforce no more than the level restricted";
  }
  if (/RuntimeClass/.test(message)) {
    return "make that RuntimeClass, or let REEVE_SANDBOX_RUNTIME name another";
  }
  const [verb = verbs[method], resource = resourceOf(path)] = (
    /cannot (\w+) resource "([^"]+)"/.exec(message) ?? []
  ).slice(1);
  return `grant the service account the verb ${verb} on ${resource} (deploy/k8s/components/sandbox)`;
}

function resourceOf(path: string): string {
  const [, kind = "", , below] =
    /\/namespaces\/[^/]+\/([^/?]+)(?:\/([^/?]+)(?:\/([^/?]+))?)?/.exec(path) ?? [];
  return below === undefined ? kind : `${kind}/${below}`;
}

function messageOf(said: string): string {
  try {
    return statusOf.parse(JSON.parse(said)).message ?? "";
  } catch {
    return said.trim().slice(0, 500);
  }
}
