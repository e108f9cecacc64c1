import { useState } from "react";
import { Icon } from "./icons.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for example "id". */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const onClick = () => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true));
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isCopied ? `${what} copied` : `Copy ${what}`}
      title={`Copy ${what}`}
      onClick={onClick}
      onBlur={() => setCopied(false)}
    >
      <Icon name={isCopied ? "check" : "copy"} />
    </button>
  );
}
