import { useQuery } from "@connectrpc/connect-query";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { ToolService } from "@reeve/contracts/tool";
import type { ReactNode } from "react";
import { useId } from "react";
import { HintedInput } from "./hinted-input.tsx";
import type { SpecProblem } from "./spec-text.ts";

interface AgentFormProps {
  /** Undefined: the text beside the form cannot be read. */
  readonly spec: AgentSpec | undefined;
  readonly isNew: boolean;
  readonly isReadOnly: boolean;
  readonly violations: readonly SpecProblem[];
  readonly onEdit: (
    path: readonly string[],
    value: string | number | readonly string[] | undefined,
  ) => void;
}

/** The fields that most agents set. It changes the text beside it, which has all fields. */
export function AgentForm({ spec, isNew, isReadOnly, violations, onEdit }: AgentFormProps) {
  const models = useQuery(AgentService.method.listModels, {}).data;
  const tools = useQuery(ToolService.method.listTools, {}).data?.tools ?? [];
  if (spec === undefined) {
    return <p className="muted">The form shows the fields again when the text can be read.</p>;
  }
  const field = (name: string, label: string, input: (id: string) => ReactNode) => (
    <Field name={name} label={label} violations={violations}>
      {input}
    </Field>
  );
  const cost = spec.budgets?.maxCostUsd;
  return (
    <form aria-label="Fields" onSubmit={(event) => event.preventDefault()}>
      <fieldset className="agent-form" disabled={isReadOnly}>
        {isNew &&
          field("id", "Id", (id) => (
            <input
              id={id}
              className="input mono"
              value={spec.id}
              onChange={(event) => onEdit(["id"], event.target.value)}
            />
          ))}
        {field("name", "Name", (id) => (
          <input
            id={id}
            className="input"
            value={spec.name}
            onChange={(event) => onEdit(["name"], event.target.value)}
          />
        ))}
        {field("model", "Model", (id) => (
          <HintedInput
            id={id}
            hints={["default", ...(models?.models ?? []).map((model) => model.id)]}
            value={spec.model}
            onChange={(model) => onEdit(["model"], model)}
          />
        ))}
        {field("instructions", "Instructions", (id) => (
          <textarea
            id={id}
            className="input"
            rows={8}
            value={spec.instructions}
            onChange={(event) => onEdit(["instructions"], event.target.value)}
          />
        ))}
        {field("hitl_tools", "Calls that need a decision, separated by commas", (id) => (
          <HintedInput
            id={id}
            hints={tools.map(({ name }) => name)}
            value={spec.hitlTools.join(", ")}
            onChange={(names) => onEdit(["hitl_tools"], listOf(names))}
          />
        ))}
        {field("budgets.max_cost_usd", "Maximum cost of a run, in US dollars", (id) => (
          <input
            id={id}
            className="input"
            type="number"
            min="0"
            step="any"
            value={cost ?? ""}
            onChange={({ target }) =>
              onEdit(
                ["budgets", "max_cost_usd"],
                target.value === "" ? undefined : Number(target.value),
              )
            }
          />
        ))}
        {field("max_rounds", "Maximum number of steps (20)", (id) => (
          <input
            id={id}
            className="input"
            type="number"
            min="1"
            value={spec.maxRounds ?? ""}
            onChange={({ target }) =>
              onEdit(["max_rounds"], target.value === "" ? undefined : Number(target.value))
            }
          />
        ))}
      </fieldset>
    </form>
  );
}

function listOf(names: string): readonly string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly violations: readonly SpecProblem[];
  readonly children: (id: string) => ReactNode;
}

/** A field with what is wrong with it. */
function Field({ name, label, violations, children }: FieldProps) {
  const id = useId();
  const isOf = ({ field }: SpecProblem) =>
    field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {violations.filter(isOf).map(({ message }) => (
        <span key={message} className="bad">
          {message}
        </span>
      ))}
    </div>
  );
}
