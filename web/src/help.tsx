// The documentation of causes, and terms with their meanings.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Content } from "./document";
import { TERMS } from "./terms";
import { t, word } from "./texts";

/** A term that says what it means when pointed at. */
export function Term({ of, children }: { of: string; children?: ComponentChildren }) {
  return <abbr title={word(TERMS[of] ?? "")}>{children ?? word(of)}</abbr>;
}

/** The title of the documentation of a cause or a note; notes have an English one alone. */
export function causeTitle(slug: string, content: Content): string {
  const key = `cause: ${slug}`;
  const title = word(key);
  return title === key ? (content.docs[slug]?.title ?? "") : title;
}

/** A cause's name, which opens its documentation. */
export function Cause({ slug, content, help }: { slug: string; content: Content; help: (slug: string) => void }) {
  const doc = content.docs[slug];
  if (!doc) return <span class="cause">{slug}</span>;
  return (
    <button
      type="button"
      class="cause"
      title={causeTitle(slug, content)}
      onClick={(event) => {
        event.stopPropagation();
        help(slug);
      }}
    >
      {slug}
    </button>
  );
}

/** What `whyslow causes` says. */
export function HelpDialog({
  content,
  slug,
  close,
  show,
}: {
  content: Content;
  slug: string | null;
  close: () => void;
  show: (slug: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const doc = slug === null ? undefined : content.docs[slug];
  useEffect(() => {
    if (doc && !dialog.current?.open) dialog.current?.showModal();
    if (!doc && dialog.current?.open) dialog.current.close();
    dialog.current?.scrollTo(0, 0);
  }, [doc]);
  // Names of other causes stand as code in the text: they lead on.
  const follow = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    if (target === dialog.current) return close();
    const name = target.closest("code")?.textContent ?? "";
    if (content.docs[name]) show(name);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it; `whyslow causes` has the text.
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close} onClick={follow}>
      {doc && (
        <article>
          <button type="button" class="close" aria-label={t`Close`} onClick={close}>
            ×
          </button>
          <h1 id="help-title">{slug}</h1>
          <p class="lead">{slug && causeTitle(slug, content)}</p>
          {/* The project's own text, not a capture's. */}
          <div dangerouslySetInnerHTML={{ __html: doc.html }} />
        </article>
      )}
    </dialog>
  );
}
