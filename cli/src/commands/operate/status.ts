import type { Client, GetDeploymentResponse, ModelActivity, QuotaLimit } from "@reeve/client";
import { Code, ReeveError } from "@reeve/client";
import {
  GetDeploymentResponseSchema,
  ModelActivitySchema,
  QuotaLimitSchema,
} from "@reeve/contracts/operations";
import { toJson } from "@bufbuild/protobuf";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { renderStatus } from "../../render/status.ts";

/** What `reeve status` shows. */
interface Status {
  /** Undefined: the caller does not operate the deployment. */
  readonly deployment: GetDeploymentResponse | undefined;
  readonly models: readonly ModelActivity[];
  readonly quotas: readonly QuotaLimit[];
}

/** Shows what the deployment does, and what the tenant uses of it. */
export function statusCommand(context: Context): Command {
  const command = new Command("status")
    .description(
      "Show workers, toolhosts, queues, and the store; the model calls of the last hour; and what is used of quotas. " +
        "The deployment needs the role operator in the tenant of REEVE_AUDIT_TENANT.",
    )
    .option("--json", "print the status as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const status = await readStatus(reeve, context);
      const { terminal } = context;
      if (json === true) terminal.out(`${JSON.stringify(jsonOf(status))}\n`);
      else terminal.out(renderStatus(status, { style: terminal.style, nowMs: Date.now() }));
      if (status.deployment === undefined) {
        terminal.note(
          "workers, queues, and the store are shown to operators of the tenant REEVE_AUDIT_TENANT\n",
        );
      }
    }),
  );
}

async function readStatus(
  { operations }: Client,
  { signal }: Pick<Context, "signal">,
): Promise<Status> {
  const [deployment, models, quotas] = await Promise.all([
    operations.getDeployment({ signal }).catch((error: unknown) => {
      if (error instanceof ReeveError && error.code === Code.PermissionDenied) return undefined;
      throw error;
    }),
    operations.listModelActivity({ signal }),
    operations.listQuotas({ signal }),
  ]);
  return { deployment, models, quotas };
}

function jsonOf({ deployment, models, quotas }: Status): object {
  const options = { alwaysEmitImplicit: true };
  return {
    ...(deployment && { deployment: toJson(GetDeploymentResponseSchema, deployment, options) }),
    models: models.map((model) => toJson(ModelActivitySchema, model, options)),
    quotas: quotas.map((limit) => toJson(QuotaLimitSchema, limit, options)),
  };
}
