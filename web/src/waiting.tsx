// The page while nothing is open: where to drop a capture, how far it is read, why it is not.

import type { CaptureSource, Sample } from "./capture-source";
import { roundBytes } from "./format";
import { t } from "./texts";

export type Going =
  | { state: "waiting" }
  | { state: "empty" }
  | { state: "reading"; name: string; read: number; total: number | null }
  | { state: "failed"; error: string };

interface Props {
  going: Going;
  pick: () => void;
  source: CaptureSource | null;
  take: (files: File[]) => void;
}

export function Waiting({ going, pick, source, take }: Props) {
  switch (going.state) {
    case "waiting":
      return <main class="waiting" aria-busy="true" />;
    case "empty":
      return (
        <main class="waiting">
          <button type="button" class="drop" onClick={pick}>
            <b>{t`Drop a capture here`}</b>
            <span>
              {t`pcap, pcapng or tcpdump’s text, compressed or not; captures of both ends together; a TLS key log with them`}
            </span>
            <span>{t`It stays on this machine.`}</span>
          </button>
          {source && source.samples.length > 0 && (
            <>
              <Samples samples={source.samples} take={take} />
              <p>
                <a href="index.html">{t`Documentation`}</a>
                {t`: what it finds, a case for each cause, how to install it`}
              </p>
            </>
          )}
        </main>
      );
    case "reading": {
      const { read, total } = going;
      return (
        <main class="waiting" aria-busy="true">
          <p>
            {t`Reading`} <b>{going.name}</b>
          </p>
          <progress {...(total ? { value: read, max: total } : {})} aria-label={t`Progress`} />
          <p class="dim">{total ? t`${roundBytes(read)} of ${roundBytes(total)}` : roundBytes(read)}</p>
          {source?.stop && (
            <button type="button" onClick={() => source.stop?.()}>
              {t`Stop`}
            </button>
          )}
        </main>
      );
    }
    case "failed":
      return (
        <main class="waiting">
          <p class="failed" role="alert">
            <b>{t`It could not be read.`}</b> {going.error}
          </p>
        </main>
      );
  }
}

/** Captures to try. */
function Samples({ samples, take }: { samples: Sample[]; take: (files: File[]) => void }) {
  return (
    <section class="samples" aria-labelledby="samples-title">
      <h2 id="samples-title">{t`Or one of these`}</h2>
      <ul class="plain">
        {samples.map((sample) => (
          <li key={sample.name}>
            <button type="button" onClick={() => void sample.file().then((file) => take([file]))}>
              <b>{sample.lesson}</b>
              <span class="dim">{sample.name}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
