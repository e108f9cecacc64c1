import { CopyButton } from "../../ui/copy-button.tsx";

interface HookSecretProps {
  readonly secret: string;
  readonly address: string;
}

/** The secret of a webhook, which is shown once. */
export function HookSecret({ secret, address }: HookSecretProps) {
  return (
    <section className="note warn" aria-label="Secret of the webhook">
      <p>
        <strong>Copy the secret now: it is not shown again.</strong> The sender signs requests to{" "}
        <span className="mono">{address}</span> with it, as Standard Webhooks describes.
      </p>
      <p className="row">
        <code>{secret}</code>
        <CopyButton text={secret} what="secret" />
      </p>
    </section>
  );
}
