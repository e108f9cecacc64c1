import { context, SpanStatusCode } from "@opentelemetry/api";
import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import { GuardAction } from "@reeve/contracts/run";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { inSpan } from "@reeve/platform/telemetry/spans";
import type { HookPhase } from "@reeve/contracts/extensions/plugin";
import { phaseName } from "../domain/plugins/hook-points.ts";

/** How a hook ended. */
interface Ended {
  readonly answer?: PluginHookFinished["answer"];
  readonly error: string;
  readonly guards?: readonly GuardVerdict[];
}

/** Runs a hook of a plugin in a span that says what the plugin decided, and which guards did. */
export async function inHookSpan<Outcome extends Ended>(
  {
    pluginId,
    phase,
    callId,
  }: Pick<PluginHookFinished, "pluginId" | "callId"> & { readonly phase: HookPhase },
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const described = {
    [attributes.pluginId]: pluginId,
    [attributes.hookPhase]: phaseName(phase),
    ...(callId !== "" && { [attributes.toolCallId]: callId }),
  };
  const name = `run_hook ${pluginId}`;
  return await inSpan(name, { attributes: described }, context.active(), async (span) => {
    const outcome = await run();
    const { answer, error, guards = [] } = outcome;
    span.setAttribute(attributes.hookVerdict, answer?.verdict.case ?? "none");
    const tripped = guards.filter(({ action }) => action !== GuardAction.PASS);
    if (tripped.length > 0) {
      span.setAttribute(
        attributes.guardsTripped,
        tripped.map(({ guard }) => guard),
      );
    }
    if (error !== "") {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute(attributes.errorType, "hook_failed");
    }
    return outcome;
  });
}
