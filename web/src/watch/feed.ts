// What is new is asked for as long as the page is seen; while it is frozen it is put aside.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { localServer } from "../query-client";
import { t } from "../texts";
import { added, type Board, withNews } from "./board";
import type { News } from "./model";

/** The server waits where nothing is new; the page is drawn no more often than this, milliseconds. */
const PAUSE = 500;
/** After a question that was not answered. */
const AGAIN = 2_000;

export interface Feed {
  /** What is shown; none before the first answer. */
  board: Board | null;
  /** What is known, though it may not be shown. */
  latest: Board | null;
  isFrozen: boolean;
  freeze: (freeze: boolean) => void;
  /** Transfers that came while it was frozen: put aside, or shown since. */
  fresh: ReadonlySet<number>;
  /** Why nothing comes any more. */
  silence: string | null;
}

const NONE: ReadonlySet<number> = new Set();

/** Until the page is seen. */
function untilSeen(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((done) => document.addEventListener("visibilitychange", () => done(), { once: true }));
}

/** Gives what is new to `take` until it is over, or the caller stops it. */
async function follow(take: (news: News) => void, silent: (why: string | null) => void, end: AbortSignal) {
  for (let since = 0, isOver = false; !isOver && !end.aborted; ) {
    let pause = PAUSE;
    try {
      await untilSeen();
      const answer = await localServer.ask(`news?since=${since}`, end);
      if (!answer.ok) throw new Error((await answer.text()).trim());
      const news = (await answer.json()) as News;
      since = news.number;
      isOver = news.state.is_over;
      take(news);
      silent(null);
    } catch (error) {
      if (end.aborted) return;
      silent(t`whyslow does not respond (${(error as Error).message}): was it ended?`);
      pause = AGAIN;
    }
    if (!isOver) await new Promise((done) => setTimeout(done, pause));
  }
}

export function useFeed(): Feed {
  const [latest, setLatest] = useState<Board | null>(null);
  const [frozen, setFrozen] = useState<Board | null>(null);
  const [shown, setShown] = useState<ReadonlySet<number>>(NONE);
  const [silence, setSilence] = useState<string | null>(null);
  const known = useRef<Board | null>(null);
  useEffect(() => {
    const end = new AbortController();
    const take = (news: News) => {
      known.current = withNews(known.current, news);
      setLatest(known.current);
    };
    void follow(take, setSilence, end.signal);
    return () => end.abort();
  }, []);
  const freeze = useCallback(
    (isFrozen: boolean) => {
      setShown(!isFrozen && frozen && known.current ? added(known.current, frozen) : NONE);
      setFrozen(isFrozen ? known.current : null);
    },
    [frozen],
  );
  const fresh = frozen && latest ? added(latest, frozen) : shown;
  return { board: frozen ?? latest, latest, isFrozen: frozen !== null, freeze, fresh, silence };
}
