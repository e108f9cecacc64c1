import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { PermissionClass, PermissionClassSchema } from "@reeve/contracts/tool";
import { useId } from "react";
import type { SpecProblem } from "../../agents/spec-text.ts";
import { HintedInput } from "../../agents/hinted-input.tsx";
import type { DraftActions } from "../use-draft.ts";

/** The names of the classes as specs write them, without the one that only an editor has. */
const classes = PermissionClassSchema.values
  .filter(({ number }) => number !== 0 && number !== PermissionClass.EDITOR_MUTATE)
  .map(({ name }) => name.replace("PERMISSION_CLASS_", "").toLowerCase());

interface SettingsPanelProps {
  readonly spec: AgentSpec;
  readonly problems: readonly SpecProblem[];
  readonly changeSpec: DraftActions["changeSpec"];
}

/** What the nodes of a workflow share. The text has the other fields of the spec. */
export function SettingsPanel({ spec, problems, changeSpec }: SettingsPanelProps) {
  const models = useQuery(AgentService.method.listModels, {}).data?.models ?? [];
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const change = (part: Partial<Pick<AgentSpec, "model" | "permissionClasses" | "delegates">>) =>
    changeSpec(
      (before) => create(AgentSpecSchema, { ...before, ...part }),
      Object.keys(part).join(" "),
    );
  const field = (name: string) => ({ name, problems });
  return (
    <form
      className="node-panel"
      aria-label="Settings of the workflow"
      onSubmit={(event) => event.preventDefault()}
    >
      <Setting
        {...field("model")}
        label="Model of the nodes that ask a model"
        hints={["default", ...models.map(({ id }) => id)]}
        value={spec.model}
        onChange={(model) => change({ model })}
      />
      <Setting
        {...field("permission_classes")}
        label="Further permission classes of its tools, separated by commas"
        hints={classes}
        value={spec.permissionClasses.join(", ")}
        onChange={(names) => change({ permissionClasses: listOf(names) })}
      />
      <Setting
        {...field("delegates")}
        label="Agents and workflows that its nodes call, separated by commas"
        hints={agents.map(({ spec: each }) => each?.id ?? "")}
        value={spec.delegates.join(", ")}
        onChange={(names) => change({ delegates: listOf(names) })}
      />
    </form>
  );
}

function listOf(names: string): string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

interface SettingProps {
  readonly name: string;
  readonly label: string;
  readonly hints: readonly string[];
  readonly value: string;
  readonly problems: readonly SpecProblem[];
  readonly onChange: (value: string) => void;
}

function Setting({ name, label, hints, value, problems, onChange }: SettingProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <HintedInput id={id} hints={hints} value={value} onChange={onChange} />
      {problems
        .filter(({ field }) => field === name || field.startsWith(`${name}[`))
        .map(({ message }) => (
          <span key={message} className="bad">
            {message}
          </span>
        ))}
    </div>
  );
}
