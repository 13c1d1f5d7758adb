// A transfer that was opened: as in a file, as it was when it was opened.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { ConnectionView } from "../connection";
import { count } from "../format";
import { localServer } from "../query-client";
import { t } from "../texts";
import type { State } from "../url-state";
import { attachToConnection } from "../words";
import type { WatchProps } from ".";
import type { Board } from "./board";
import type { Opened } from "./model";

/** The connection as it is now; another `version` asks again. */
/** A connection with its sentences attached. */
function openedOf(opened: Opened): Opened {
  attachToConnection(opened.connection, opened.words);
  return opened;
}

function useOpened(id: number, version: number): Opened | string | null {
  const [opened, setOpened] = useState<Opened | string | null>(null);
  useEffect(() => {
    const end = new AbortController();
    localServer
      .ask(`connection?c=${id}`, end.signal)
      .then(async (answer) =>
        setOpened(answer.ok ? openedOf((await answer.json()) as Opened) : (await answer.text()).trim()),
      )
      .catch((error: Error) => !end.signal.aborted && setOpened(error.message));
    return () => end.abort();
  }, [id, version]);
  return opened;
}

export function LiveConnection(props: WatchProps & { id: number; latest: Board | null }) {
  const { id, latest, content, view, go, help, notes } = props;
  const [version, setVersion] = useState(0);
  const opened = useOpened(id, version);
  if (typeof opened === "string") {
    return (
      <main class="waiting">
        <p role="alert">{opened}</p>
        <button type="button" onClick={() => go({ connection: null, transfer: null, zoom: null })}>
          {t`All transfers`}
        </button>
      </main>
    );
  }
  if (opened === null) return <main class="waiting" aria-busy="true" />;
  return (
    <Shown {...{ opened, latest, content, view, go, help, notes }} again={() => setVersion((version) => version + 1)} />
  );
}

function Shown(props: WatchProps & { opened: Opened; latest: Board | null; again: () => void }) {
  const { opened, latest, content, view, go, help, notes, again } = props;
  const { connection, serials } = opened;
  // In the address a transfer has its number among all: the place in its connection may change.
  const place = view.transfer === null ? -1 : serials.indexOf(view.transfer);
  const inView = useMemo((): State => ({ ...view, transfer: place < 0 ? null : place + 1 }), [view, place]);
  const goTo = useCallback(
    (change: Partial<State>, keep?: boolean) => {
      const { transfer } = change;
      go(transfer == null ? change : { ...change, transfer: serials[transfer - 1] ?? null }, keep);
    },
    [go, serials],
  );
  const known = new Set(serials);
  const newer = [...(latest?.rows.values() ?? [])].filter(
    (row) => row.id === connection.id && row.from !== null && !known.has(row.serial),
  ).length;
  const hasLeft = view.transfer !== null && place < 0;
  return (
    <div class="opened">
      <div class="livebar" role="status">
        {opened.packets !== null && (
          <a
            class="button"
            href={`save?c=${connection.id}`}
            download={`whyslow-${connection.id}.pcapng`}
            title={t`All of the connection’s packets that are in memory, as pcapng`}
          >
            {t`Save packets`}
          </a>
        )}
        {newer > 0 && (
          <button type="button" onClick={again}>
            {t`Show ${count(newer, "newer transfer")} of it`}
          </button>
        )}
        {opened.packets !== null && (
          <span class="dim">
            {t`${count(opened.packets, "packet")} in memory`}
            {opened.missing > 0 && t`; ${count(opened.missing, "earlier packet")} dropped from memory`}
          </span>
        )}
        {hasLeft && <span>{t`The requested transfer is no longer in memory; this is another one.`}</span>}
      </div>
      <ConnectionView
        key={connection.id}
        content={content}
        connection={connection}
        view={inView}
        go={goTo}
        help={help}
        queryClient={localServer}
        notes={notes}
      />
    </div>
  );
}
