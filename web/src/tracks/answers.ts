// The stored answers for a connection: the whole of it, and ranges that were zoomed into.
//
// Any range can be drawn at once, by the finest answer that covers it; meanwhile a finer one is
// requested. One question is open at a time, and it is always for the visible range: fast movements
// leave no queue behind.

import type { Answer, Source } from "./series";

/** Columns asked for, of the whole and of a closer look. */
const WHOLE = 2048;
const CLOSE = 3072;
/** So many columns on the screen are fine enough. */
const FINE = 1000;
/** Closer looks kept: each has at most some thousand columns and 12,000 segments. */
const MOST = 12;
/** Asked for on either side of what is seen, as shares of it, … */
const ROOM = 0.6;
/** … and asked for again where less than this is left of it. */
const LEFT = 0.25;
/** What was asked for at this much the same zoom is not asked for again, whatever came. */
const SAME = 1.5;

export class Answers {
  private whole: Answer | null = null;
  private close: Answer[] = [];
  private asking = false;
  private ended = false;

  constructor(
    private readonly from: Source,
    private readonly connection: number,
    /** Something new is here. */
    private readonly came: (answer: Answer) => void,
    private readonly failed: (why: string) => void,
  ) {}

  /** Asks for the whole; without it nothing is shown. */
  start(): void {
    this.ask(null);
  }

  /** Nobody wants them any more. */
  end(): void {
    this.ended = true;
  }

  /** The finest that covers a range; the whole where none does. */
  best(from: number, to: number): Answer | null {
    let best = this.whole;
    for (const one of this.close) if (covers(one, from, to) && (!best || finer(one, best))) best = one;
    return best;
  }

  /** Asks for what a range lacks, if anything. */
  want(from: number, to: number): void {
    const { whole } = this;
    if (!whole || this.asking || this.ended) return;
    const span = to - from;
    const [first, last] = whole.range;
    const within = (room: number): [number, number] => [
      Math.max(first, from - span * room),
      Math.min(last, to + span * room),
    ];
    const [a, b] = within(LEFT);
    if (b <= a) return;
    const best = this.best(a, b);
    if (best && (best.points !== null || best.width * FINE <= span)) return;
    const ask = within(ROOM);
    // A source that has nothing finer would be asked again and again.
    if (
      this.close.some(
        (one) =>
          one.asked &&
          one.asked[0] <= a &&
          one.asked[1] >= b &&
          one.asked[1] - one.asked[0] <= (ask[1] - ask[0]) * SAME,
      )
    )
      return;
    this.ask(ask);
  }

  private ask(range: [number, number] | null): void {
    this.asking = true;
    this.from
      .get(this.connection, range, range ? CLOSE : WHOLE)
      .then((answer) => {
        this.asking = false;
        if (this.ended) return;
        if (range) this.close = [...this.close.slice(1 - MOST), { ...answer, asked: range }];
        else this.whole = answer;
        this.came(answer);
      })
      .catch((error: Error) => {
        this.asking = false;
        if (!this.ended) this.failed(error.message);
      });
  }
}

const covers = (one: Answer, from: number, to: number) =>
  one.from <= Math.max(from, one.range[0]) && one.to >= Math.min(to, one.range[1]);
const finer = (one: Answer, other: Answer) =>
  (one.points !== null) !== (other.points !== null) ? one.points !== null : one.width < other.width;
