import { useMutation, useQuery } from "@connectrpc/connect-query";
import type { Agent, AgentSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { useDeferredValue, useMemo, useState } from "react";
import { plural } from "../../format/amounts.ts";
import { problemOf } from "../../api/problem.ts";
import { useAccess } from "../../access/use-access.ts";
import { Permitted } from "../../access/permitted.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { AgentForm } from "./agent-form.tsx";
import type { SpecFormat } from "./edit-spec.ts";
import { editSpec } from "./edit-spec.ts";
import { SpecEditor } from "./editor/spec-editor.tsx";
import { Playground } from "./playground/playground.tsx";
import type { SpecProblem } from "./spec-text.ts";
import { readSpec, specAsJson, specAsYaml } from "./spec-text.ts";

interface AgentEditorProps {
  /** What the editor begins with. */
  readonly spec: AgentSpec;
  /** Revision that a change is based on. 0: the agent is new. */
  readonly revision: number;
  readonly onSaved: (agentId: string) => void;
}

/** The spec as a form and as text. The server checks each change; only a valid spec can be saved. */
export function AgentEditor({ spec: stored, revision, onSaved }: AgentEditorProps) {
  const isNew = revision === 0;
  const method = isNew ? AgentService.method.createAgent : AgentService.method.updateAgent;
  const mayEdit = useAccess().whyNot(method) === undefined;
  const [format, setFormat] = useState<SpecFormat>("YAML");
  const [{ text, version }, setDraft] = useState(() => ({ text: specAsYaml(stored), version: 0 }));
  const checked = useDeferredValue(text);
  const read = useMemo(() => readSpec(checked), [checked]);
  const validation = useQuery(
    AgentService.method.validateAgent,
    { spec: read.spec ?? stored },
    { enabled: mayEdit && read.spec !== undefined, placeholderData: (previous) => previous },
  );
  const update = useMutation(AgentService.method.updateAgent);
  const create = useMutation(AgentService.method.createAgent);
  const save = isNew ? create : update;
  const violations: readonly SpecProblem[] =
    read.spec === undefined
      ? read.problems
      : (validation.data?.violations ?? []).map(({ field, description }) => ({
          line: read.lineOf(field),
          field,
          message: description,
        }));
  const isChanged = isNew || text !== (format === "YAML" ? specAsYaml(stored) : specAsJson(stored));
  const isValid = violations.length === 0 && validation.isSuccess && !validation.isFetching;
  const onSuccess = ({ agent }: { readonly agent?: Agent | undefined }) =>
    onSaved(agent?.spec?.id ?? "");
  const onSave = () =>
    isNew
      ? create.mutate({ spec: read.spec }, { onSuccess })
      : update.mutate({ spec: read.spec, revision }, { onSuccess });
  const show = (next: SpecFormat) => {
    const { spec } = readSpec(text);
    if (spec === undefined) return;
    setFormat(next);
    const shown = next === "YAML" ? specAsYaml(spec) : specAsJson(spec);
    setDraft((before) => ({ text: shown, version: before.version + 1 }));
  };
  return (
    <div className="agent-editor">
      <div className="row">
        <div className="chips" role="group" aria-label="Format">
          {(["YAML", "JSON"] as const).map((each) => (
            <button
              key={each}
              type="button"
              className="chip small"
              aria-pressed={format === each}
              onClick={() => show(each)}
            >
              {each}
            </button>
          ))}
        </div>
        <span className="muted" role="status">
          {violations.length > 0
            ? "Not valid"
            : validation.isFetching
              ? "Checking …"
              : isValid
                ? validWith(validation.data.warnings.length)
                : ""}
        </span>
        <div className="push">
          <Permitted method={method} action={isNew ? "Creating an agent" : "Changing the agent"}>
            <button
              type="button"
              className="button primary"
              disabled={!isChanged || !isValid || save.isPending || text !== checked}
              onClick={onSave}
            >
              {isNew ? "Create the agent" : `Save as revision ${revision + 1}`}
            </button>
          </Permitted>
        </div>
      </div>
      <div className="form-and-text">
        <AgentForm
          spec={readSpec(text).spec}
          isNew={isNew}
          isReadOnly={!mayEdit}
          violations={violations}
          onEdit={(path, value) =>
            setDraft((before) => ({
              text: editSpec(before.text, path, value, format),
              version: before.version + 1,
            }))
          }
        />
        {mayEdit ? (
          <SpecEditor
            text={text}
            violations={violations}
            version={version}
            onChange={(next) => setDraft((before) => ({ ...before, text: next }))}
          />
        ) : (
          <pre className="code" tabIndex={0} aria-label="Spec">
            {text}
          </pre>
        )}
      </div>
      <ul className="violations" aria-label="Violations" aria-live="polite">
        {violations.map(({ line, field, message }) => (
          <li key={`${field} ${message}`}>
            {line !== undefined && <span className="muted">line {line}: </span>}
            {field !== "" && <code>{field}</code>} {message}
          </li>
        ))}
      </ul>
      {(validation.data?.warnings ?? []).map((warning) => (
        <p key={warning} className="note warn">
          {warning}
        </p>
      ))}
      {mayEdit && <Playground spec={isValid && text === checked ? read.spec : undefined} />}
      {save.error !== null && <ProblemView problem={problemOf(save.error)} />}
    </div>
  );
}

function validWith(warnings: number): string {
  return warnings === 0 ? "Valid" : `Valid, ${plural(warnings, "warning")}`;
}
