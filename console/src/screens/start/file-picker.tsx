import type { DragEvent } from "react";
import { useId, useState } from "react";
import { formatBytes } from "../../format/amounts.ts";
import { Icon } from "../../ui/icons.tsx";
import { maxFileBytes, maxFiles } from "./upload-files.ts";

interface FilePickerProps {
  /** What the files are for. Default: the workspace. */
  readonly label?: string;
  /** The media types that the dialog offers. Default: all. */
  readonly accept?: string;
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
}

/** Files that a person drops or chooses. Of two with the same name, the last one counts. */
export function FilePicker(props: FilePickerProps) {
  const { files, onChange, label = "Files for the workspace (drop them here)", accept } = props;
  const id = useId();
  const [refused, setRefused] = useState<readonly string[]>([]);
  const add = (chosen: readonly File[]) => {
    const fitting = chosen.filter(({ size }) => size <= maxFileBytes);
    const names = new Set(fitting.map(({ name }) => name));
    const next = [...files.filter(({ name }) => !names.has(name)), ...fitting];
    const late = next.slice(maxFiles).map(({ name }) => `${name}: at most ${maxFiles} files`);
    const large = chosen
      .filter(({ size }) => size > maxFileBytes)
      .map(({ name }) => `${name}: larger than ${formatBytes(maxFileBytes)}; use reeve run --file`);
    setRefused([...large, ...late]);
    onChange(next.slice(0, maxFiles));
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    add([...event.dataTransfer.files]);
  };
  return (
    <div className="drop" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        multiple
        accept={accept}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          // So that the same file can be chosen again after it was removed.
          target.value = "";
        }}
      />
      <ul className="dropped">
        {files.map((file) => (
          <li key={file.name} className="row">
            <Icon name="file" />
            <span className="mono clip">{file.name}</span>
            <span className="muted">{formatBytes(file.size)}</span>
            <button
              type="button"
              className="icon-button"
              aria-label={`Remove ${file.name}`}
              onClick={() => onChange(files.filter((each) => each !== file))}
            >
              <Icon name="cross" />
            </button>
          </li>
        ))}
        {refused.map((text) => (
          <li key={text} className="bad" role="alert">
            {text}
          </li>
        ))}
      </ul>
    </div>
  );
}
