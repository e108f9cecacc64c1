import type { JsonObject } from "@bufbuild/protobuf";
import { useId, useState } from "react";
import { checkArguments } from "./check-arguments.ts";

interface ArgumentsEditorProps {
  readonly value: JsonObject;
  readonly schema: JsonObject | undefined;
  readonly label: string;
  /** Receives the value after each change. Undefined: what is written is not valid. */
  readonly onChange: (value: JsonObject | undefined) => void;
}

/** A JSON object as text, checked against its schema while it is written. */
export function ArgumentsEditor({ value, schema, label, onChange }: ArgumentsEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(value, undefined, 2));
  const id = useId();
  const { problems } = checkArguments(text, schema);
  return (
    <div className="editor">
      <textarea
        className="code-input"
        aria-label={label}
        aria-invalid={problems.length > 0}
        aria-describedby={id}
        spellCheck={false}
        rows={Math.min(24, Math.max(4, text.split("\n").length + 1))}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onChange(checkArguments(event.target.value, schema).value);
        }}
      />
      {schema === undefined && (
        <p className="muted">
          The schema of this tool is not known here. The server checks the arguments when you
          approve.
        </p>
      )}
      <ul id={id} className="violations" aria-live="polite">
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  );
}
