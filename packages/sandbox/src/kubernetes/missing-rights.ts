import { z } from "zod";
import type { Cluster } from "./cluster.ts";
import type { Right } from "./session-source.ts";

const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const review = z.object({ status: z.object({ allowed: z.boolean().optional() }).optional() });

/** Returns those of `rights` that our service account lacks, as text: `create pods`. */
export async function missingRights(
  cluster: Cluster,
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { group, resource: whole, verb } of rights) {
    const [resource = "", subresource = ""] = whole.split("/");
    const { namespace } = cluster;
    const resourceAttributes = { namespace, group, resource, subresource, verb };
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    };
    const answer = review.parse(await cluster.request({ method: "POST", path, body }, signal));
    if (answer.status?.allowed !== true) missing.push(`${verb} ${whole}`);
  }
  return missing;
}
