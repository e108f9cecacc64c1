import { ErrorReason } from "@reeve/contracts/error";
import type { FailureKind } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";

/** One request to the API of a cluster. */
export interface ClusterRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path with its query. */
  readonly path: string;
  readonly body?: unknown;
}

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

/** Creates the Failure for a refused request, with the message of the API server and a remedy. */
export function refusal(
  request: Pick<ClusterRequest, "method" | "path">,
  status: number,
  body: string,
): Failure {
  const message = messageOf(body) || `status ${status}`;
  const problem = `the cluster refused ${request.method} ${request.path.split("?")[0]}: ${message}`;
  const isQuota = status === 403 && /\bquota\b/i.test(message);
  const kind = isQuota ? "exhausted" : (kinds[status] ?? "unavailable");
  const remedy = isQuota
    ? quotaRemedyFor(message)
    : status === 403
      ? forbiddenRemedy(request, message)
      : remedies[status];
  const reason = kind === "denied" ? ErrorReason.PERMISSION_DENIED : ErrorReason.UNAVAILABLE;
  return new Failure(kind, reason, remedy === undefined ? problem : `${problem}; ${remedy}`);
}

/** Creates the Failure for an API server that does not answer. Returns a `cause` that is already a Failure. */
export function unreachable(server: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  const problem = `the API server ${server} does not answer: ${why}; check that it runs and that no network policy blocks toolhosts`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}

/** A new quota has no status until its controller has counted, and refuses everything until then. */
function quotaRemedyFor(message: string): string {
  return /status unknown for quota/i.test(message)
    ? "wait until the cluster has computed the ResourceQuota of the namespace"
    : "end other sandboxes, or raise the ResourceQuota of the namespace";
}

const remedies: Readonly<Record<number, string>> = {
  401: "check that the token of the toolhost is mounted and has not expired",
};

/** Returns the remedy for status 403, which admission checks such as Pod Security use as well as missing rights. */
function forbiddenRemedy(
  { method, path }: Pick<ClusterRequest, "method" | "path">,
  message: string,
) {
  if (/violates PodSecurity/i.test(message)) {
    return "set the Pod Security level of the namespace to restricted or weaker";
  }
  if (/RuntimeClass/.test(message)) {
    return "create that RuntimeClass, or set REEVE_SANDBOX_RUNTIME to another";
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

function messageOf(body: string): string {
  try {
    return statusOf.parse(JSON.parse(body)).message ?? "";
  } catch {
    return body.trim().slice(0, 500);
  }
}
