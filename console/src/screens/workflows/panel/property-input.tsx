import type { JsonValue } from "@bufbuild/protobuf";
import { useState } from "react";
import type { FieldKind } from "../../../workflow/graph/property-fields.ts";
import { readJson, shownJson } from "../../../workflow/graph/property-fields.ts";
import { HintedInput } from "../../agents/hinted-input.tsx";

interface PropertyInputProps {
  readonly id: string;
  readonly input: FieldKind;
  readonly value: JsonValue | undefined;
  /** Values that fit, as suggestions for a text. */
  readonly hints: readonly string[];
  readonly onChange: (value: JsonValue | undefined) => void;
}

/** The control for a value, as its schema describes it. An empty one removes the value. */
export function PropertyInput({ id, input, value, hints, onChange }: PropertyInputProps) {
  const text = typeof value === "string" ? value : "";
  const onText = (next: string) => onChange(next === "" ? undefined : next);
  // A value of another type, as a file can have it, is shown as it is.
  const isOther = value !== undefined && !fits(input, value);
  if (isOther || input.kind === "json") {
    const takesText = input.kind === "json" && input.takesText;
    return <JsonInput id={id} value={value} takesText={takesText} onChange={onChange} />;
  }
  switch (input.kind) {
    case "text":
      return <HintedInput id={id} hints={hints} value={text} onChange={onText} />;
    case "long-text":
      return (
        <textarea
          id={id}
          className="input mono"
          rows={Math.min(16, Math.max(4, text.split("\n").length + 1))}
          value={text}
          onChange={(event) => onText(event.target.value)}
        />
      );
    case "number":
      return (
        <input
          id={id}
          className="input"
          type="number"
          step="any"
          value={typeof value === "number" ? value : ""}
          onChange={({ target }) =>
            onChange(target.value === "" ? undefined : Number(target.value))
          }
        />
      );
    case "switch":
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ target }) => onChange(target.checked ? true : undefined)}
        />
      );
    case "choice":
      return (
        <select
          id={id}
          className="input"
          value={text}
          onChange={(event) => onText(event.target.value)}
        >
          <option value="">–</option>
          {input.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
  }
}

function fits(input: FieldKind, value: JsonValue): boolean {
  switch (input.kind) {
    case "text":
    case "long-text":
      return typeof value === "string";
    case "choice":
      return typeof value === "string" && input.choices.includes(value);
    case "number":
      return typeof value === "number";
    case "switch":
      return typeof value === "boolean";
    case "json":
      return true;
  }
}

interface JsonInputProps extends Pick<PropertyInputProps, "id" | "value" | "onChange"> {
  readonly takesText: boolean;
}

/** A value as JSON. While a person writes what is no JSON yet, the value stays as it was. */
function JsonInput({ id, value, takesText, onChange }: JsonInputProps) {
  const [written, setWritten] = useState<string | undefined>();
  const [problem, setProblem] = useState("");
  const shown = written ?? shownJson(value, takesText);
  return (
    <>
      <textarea
        id={id}
        className="input mono"
        rows={Math.min(14, Math.max(2, shown.split("\n").length))}
        spellCheck={false}
        aria-invalid={problem !== ""}
        value={shown}
        onChange={({ target }) => {
          setWritten(target.value);
          const read = readJson(target.value, takesText);
          setProblem("problem" in read ? read.problem : "");
          if ("value" in read) onChange(read.value);
        }}
        onBlur={() => {
          // What is no JSON stays, with the reason.
          if (problem === "") setWritten(undefined);
        }}
      />
      {problem !== "" && <span className="bad">No JSON yet, so not used: {problem}</span>}
    </>
  );
}
