import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import { contentDigest } from "@reeve/contracts/digest/content-digest";
import type { RunCreated } from "@reeve/contracts/run";

/** Many grants are compared with the spec of one run. */
const digests = new WeakMap<AgentSpec, string>();

/** Returns the digest of the spec that a run was created with. All runs of a revision of an agent have the same bytes of it. */
export function specDigestOf({ spec = create(AgentSpecSchema) }: Pick<RunCreated, "spec">): string {
  const known = digests.get(spec);
  if (known !== undefined) return known;
  const digest = createHash("sha256").update(toBinary(AgentSpecSchema, spec)).digest("hex");
  digests.set(spec, digest);
  return digest;
}

/**
 * Returns the digest of the specs that a grant is about: that of the agent of the run, and those of all agents that it can call, so that a grant for
 * the call of a delegate does not outlive a change of it. Without delegates, the digest of the spec.
 */
export function grantedSpecsOf(created: Pick<RunCreated, "spec" | "delegates">): string {
  const own = specDigestOf(created);
  if (created.delegates.length === 0) return own;
  const all = [own, ...created.delegates.map((each) => `${each.agentId} ${specDigestOf(each)}`)];
  return createHash("sha256").update(all.join("\n")).digest("hex");
}

/**
 * Returns the digest of the files of a call whose content matters, or an empty text if there are none. Words that name no file, as `git` in
 * a command, and folders have no content.
 */
export function grantedContent({ content }: Pick<Approval, "content">): string {
  const files = (content?.files ?? []).filter(
    ({ state }) => state !== "absent" && state !== "folder",
  );
  return files.length === 0 ? "" : contentDigest(files);
}
