#!/bin/sh
# Records the samples anew from their recipes: samples/record.sh [NAME…]
# Needs namespaces (root, or user namespaces). A capture replaces the old one only when its run was a result and the
# intended cause was confirmed by the kernel's own counters.
set -eu
cd "$(dirname "$0")/.."
cargo build --release -q -p whyslow
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Where the cause is seen.
both="shared-bottleneck no-answer path-latency reset delayed-ack spurious-retransmission random-loss ecn pacing shaper tls-record-buffering amplification-risk small-segments duplication early-slow-start-exit policer slow-start receive-window sender-cap loss nagle-delayed-ack restart-after-idle reordering no-sack bufferbloat syn-loss zero-window tail-loss tls"
client="proxy-split mtu-probing"
if [ $# -eq 0 ]; then
    for recipe in samples/recipes/*.toml; do set -- "$@" "$(basename "$recipe" .toml)"; done
fi
failed=
for name in "$@"; do
    # Whether there is a result stands in its file.
    target/release/whyslow lab run "samples/recipes/$name.toml" --tries 20 --output "$out" >"$out/log" 2>&1 || true
    if grep -qs '"problems":\[\],"confirmed":true' "$out/$name/$name-1/result.json"; then
        case " $client " in *" $name "*) ;; *) cp "$out/$name/$name-1/server.pcap" "samples/$name-server.pcap" ;; esac
        case " $both $client " in *" $name "*) cp "$out/$name/$name-1/client.pcap" "samples/$name-client.pcap" ;; esac
        echo "recorded $name"
    else
        failed="$failed $name"
        tail -n 3 "$out/log" >&2
    fi
    [ -z "${KEEP:-}" ] || cp -r "$out/$name" "$KEEP/"
done
[ -z "$failed" ] || { echo "not recorded:$failed" >&2; exit 1; }
