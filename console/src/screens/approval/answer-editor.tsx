import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useState } from "react";
import { ArgumentsEditor } from "./arguments-editor.tsx";

interface AnswerEditorProps {
  readonly schema: JsonObject | undefined;
  /** Receives the answer after each change. Undefined: it is not complete. */
  readonly onChange: (answer: JsonObject | undefined) => void;
}

/** The answer to a question: a choice, some choices, a text, or any other answer as JSON. */
export function AnswerEditor({ schema, onChange }: AnswerEditorProps) {
  const field = onlyField(schema);
  const choices = textsOf(field?.["enum"]);
  const several = textsOf(objectOf(field?.["items"])["enum"]);
  if (choices.length > 0) return <Choices choices={choices} isSingle onChange={onChange} />;
  if (several.length > 0) return <Choices choices={several} isSingle={false} onChange={onChange} />;
  if (field?.["type"] === "string") {
    return (
      <label className="field">
        <span>Answer</span>
        <textarea
          className="input"
          rows={3}
          onChange={({ target: { value } }) =>
            onChange(value.trim() === "" ? undefined : { answer: value.trim() })
          }
        />
      </label>
    );
  }
  return <ArgumentsEditor value={{}} schema={schema} label="Answer as JSON" onChange={onChange} />;
}

interface ChoicesProps {
  readonly choices: readonly string[];
  readonly isSingle: boolean;
  readonly onChange: (answer: JsonObject | undefined) => void;
}

function Choices({ choices, isSingle, onChange }: ChoicesProps) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (choice: string, isChosen: boolean) => {
    const others = isSingle ? [] : chosen.filter((each) => each !== choice);
    const all = isChosen ? [...others, choice] : others;
    const [first] = all;
    setChosen(all);
    if (first === undefined) onChange(undefined);
    else onChange({ answer: isSingle ? first : choices.filter((each) => all.includes(each)) });
  };
  return (
    <fieldset className="choices">
      <legend>{isSingle ? "Answer" : "Answers"}</legend>
      {choices.map((choice) => (
        <label key={choice} className="choice">
          <input
            type={isSingle ? "radio" : "checkbox"}
            checked={chosen.includes(choice)}
            onChange={({ target: { checked } }) => choose(choice, checked)}
          />
          <span>{choice}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Returns the schema of `answer` if an answer has nothing else. */
function onlyField(schema: JsonObject | undefined): JsonObject | undefined {
  const [[name, field] = [], ...others] = Object.entries(objectOf(schema?.["properties"]));
  return name === "answer" && others.length === 0 ? objectOf(field) : undefined;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
