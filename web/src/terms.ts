// Terms on the page, and their meaning.

/** In plain words. */
export const TERMS: Record<string, string> = {
  RTT: "Round-trip time: from a segment to its acknowledgement, over the whole path wherever the capture stands.",
  MSS: "Maximum segment size: the most payload bytes that one segment carries.",
  "in flight": "Bytes that were sent and not yet acknowledged, as far as the sender knew when it sent.",
  window: "The receiver's window: how many bytes it allows in flight.",
  "window scale": "By how many bits the windows in the headers are shifted (RFC 7323); only the two SYNs carry this.",
  SACK: "Selective acknowledgement (RFC 2018): the receiver names what arrived behind a hole.",
  timestamps: "The TCP option that lets both ends time every round trip (RFC 7323).",
  round:
    "From the first segment sent after an ACK of the round before: about one round trip (packet-timed, as BBR counts).",
  exchange:
    "A request, the server's time and the response; or a push, which no request asked for. The wait is from the request's first byte to the response's last.",
  transfer: "One contiguous bulk of payload in one direction, usually the response to a request.",
  retransmitted:
    "F: after duplicate ACKs or SACKs; T: after the timer; P: tail loss probe; S: needless, the first copy had arrived.",
  "out of order": "Arrived after later ones without having been retransmitted: reordered on the way.",
  "duplicate ACKs": "ACKs that repeat the last one: something arrived behind a hole (RFC 5681).",
  "zero window": "Time for which the receiver offered no byte at all.",
  confidence:
    "How often findings with this much evidence are right: certain from 90 %, likely from 60 %, else possible.",
  model:
    "A packet-level TCP model that replays the transfer. It predicts nothing unless it comes within 15 % of the measured time.",
  goodput: "Bytes acknowledged in a time; retransmissions do not count.",
  throughput: "Bytes sent in a time, retransmissions included.",
};
