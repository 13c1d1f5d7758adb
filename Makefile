# make demo   build in a minute or two, record a slow transfer on this machine's own TCP stack (or take a bundled one), and explain it
# make demo-python  the same for Python: build and install the wheel, and rank the servers of bundled captures
# make wheel  the wheel that `pip install` takes, with the program in it, under target/wheel/ (tools/wheel-test installs it in each way)
# make dist   what is delivered, under target/dist/: static programs for Linux, Windows' and macOS', as archives and Debian packages,
#             with checksums (tools/dist); DIST=TARGET for one of them alone
# make dist-test  installs each of these in an empty root and runs it
# make web    build the page of `whyslow view` and `whyslow report` (Node 18 or later): the next build of the program takes it in
# make site   the site, under target/site/: the page that needs no server and no installation, and the documentation around it
#             (Rust's target wasm32-unknown-unknown, and Node)
# make site-all  the site's tests on all captures of the collection under 50 MB: its JSON is the program's
# make check  before a commit: format, layers, lints, and the unit tests of what differs from main; a minute at most when warm
# make test   everything that must hold: format, lints, tests, the lab on this kernel, documentation, layers, the page; what is skipped
#             is listed, and WHYSLOW_REQUIRE_ALL=1 makes it fail
# make soak   the same with all inputs in place of a part of them, hostile input for longer, the site as it is published: every night
# make test-spark  that Spark, Dask and Ray read what whyslow reads; needs Java, and half a gigabyte of Python packages
# make fuzz   hostile input for a minute a target (FUZZ_SECONDS to change that)
# make bench  how fast it is, beside tcptrace, tshark and cat; a report under benches/runs/ (BENCH=small: two minutes, no report;
#             BENCH_ROUNDS and BENCH_INPUTS="bulk full" to change how often and on what)
# make metamorphic  the verdict on a capture that is cut, truncated, anonymised, merged … must stay: all captures with known answers
#             (`make test` does it with the bundled ones)
# make growth how processor time and memory grow with hostile input: each input made once, twice and four times as large, and the
#             exponent of time over size, which is about 1 where nothing is wrong (GROWTH_INPUTS="falling-hole holes" for some of them)
# make watch-rate  what `whyslow watch` drops and costs at 1, 5 and 10 Gbit/s, and whether it slows iperf3: over a veth pair in
#             namespaces of its own (WATCH_RATE="--rates 1000 bulk" for other rates and inputs)
# make calibrate  how often findings are right, by grade and weight: makes the lab's drawn transfers and real programs anew (an hour), and
#             writes the table from which confidences are made (CALIBRATE_SEED, CALIBRATE_EACH)
# make stages what each stage of the analysis takes, one at a time
# make install
# make gateway  build and install whyslow-gateway, the S3 endpoint that encrypts (docs/gateway/)

SAMPLE ?= samples/slow-start-client.pcap
CARGO ?= cargo
FUZZ_SECONDS ?= 60
RECORDED = target/recorded
BENCH ?= full
BENCH_ROUNDS ?= $(if $(filter small,$(BENCH)),3,5)
BENCH_INPUTS ?=
CALIBRATE_SEED ?= 1
CALIBRATE_EACH ?= 2
GROWTH_INPUTS ?=
WATCH_RATE ?=
DIST ?=

PAGE = web/dist/index.html
WEB_PROFILE ?= web
WASM = target/wasm32-unknown-unknown/$(WEB_PROFILE)/whyslow_wasm.wasm
SITE = target/site

.PHONY: help demo demo-python wheel dist dist-test site site-all check test soak test-spark fuzz bench metamorphic growth calibrate stages watch-rate install gateway tools web page

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

tools:
	@command -v $(CARGO) >/dev/null || { echo "cargo is missing: install Rust 1.95 or later (https://rustup.rs)"; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler is missing: apt-get install gcc"; exit 1; }

web: $(PAGE)

$(PAGE): web/node_modules/.package-lock.json web/index.html web/vite.config.ts web/tsconfig.json $(shell find web/src -type f)
	cd web && npm run --silent build

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "Node is missing: install Node 18 or later with npm"; exit 1; }
	cd web && npm ci --no-fund --no-audit --loglevel=error
	@touch $@

# The page where it can be built: the program does without it, and says so.
page:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web; \
	else echo "note: Node is missing, so this build goes without the page of \`whyslow view\`"; fi

# A quick build (see Cargo.toml's profile) of what is run here: what is delivered is whole, and optimised by `make install`. A path of 100 ms, so that
# a busy machine does not spoil the run.
demo: tools page
	$(CARGO) build --profile demo --quiet -p whyslow --no-default-features
	@rm -rf $(RECORDED)
	@echo
	@echo '$$ whyslow lab run far --only new --output $(RECORDED)'
	@if target/demo/whyslow lab run far --only new --output $(RECORDED); then \
	    file=$(RECORDED)/far/new-1/client.pcap; \
	else \
	    echo "nothing was recorded here: this is a bundled capture"; file=$(SAMPLE); \
	fi; \
	echo; echo "\$$ whyslow $$file"; target/demo/whyslow $$file; \
	echo; echo "the program is target/demo/whyslow, without optimisation, exports, object stores and the server for assistants; make install builds all, as fast as it can be"

demo-python: tools
	@venv=$$(tools/wheel demo target/demo-python | tail -n 1); \
	echo; echo '$$ examples/which-servers-cost-most.py samples/*-client.pcap --picture target/demo-python/worst.svg'; \
	$$venv/bin/python examples/which-servers-cost-most.py samples/*-client.pcap --picture target/demo-python/worst.svg; \
	echo; echo "to go on: $$venv/bin/python, and import whyslow (docs/python.md)"

# The program in it is the static one, which needs nothing of the machine where it is installed.
wheel: tools page
	@target=$$(tools/dist targets | tr ' ' '\n' | grep "^$$(uname -m | sed s/arm64/aarch64/)-" | head -n 1); \
	PROGRAMS=whyslow tools/dist build $$target && tools/wheel release target/wheel target/dist/bin/$$target/whyslow >/dev/null
	@ls -l target/wheel/*.whl

dist: tools page
	@if [ -n "$(DIST)" ]; then tools/dist build $(DIST) && tools/dist pack $(DIST) && tools/dist finish; else tools/dist; fi

dist-test:
	tools/dist-test

site: tools web
	@test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)" || \
	    { echo "Rust's target for browsers is missing: rustup target add wasm32-unknown-unknown"; exit 1; }
	$(CARGO) build --profile $(WEB_PROFILE) --quiet --target wasm32-unknown-unknown -p whyslow-wasm --lib
	node web/site/build.mjs $(WASM) $(SITE)

site-all: site
	$(CARGO) test --quiet --workspace --exclude whyslow-python --test program --no-run
	cd web && WHYSLOW_SITE_ALL=1 npm run --silent test:site

check: tools
	tools/check

test: tools page
	tools/test

soak: tools page
	WHYSLOW_SOAK=1 FUZZ_SECONDS=$${FUZZ_SECONDS:-10} METAMORPHIC=$${METAMORPHIC:-all} tools/test

test-spark: tools
	tools/test spark

fuzz: tools
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test -p whyslow-diagnosis --test fuzz -- --test-threads 2
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test -p whyslow-evidence --test fuzz -- --test-threads 2
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test -p whyslow --test robustness commands -- --test-threads 2

# Inputs are made once, about 9 GB of them (0.3 GB when small), under target/.
bench: tools
	$(CARGO) build --release --quiet -p whyslow -p whyslow-bench
	@if [ "$(BENCH)" = small ]; then \
	    target/release/whyslow-bench run --rounds $(BENCH_ROUNDS) --smaller 32 --folder target/bench-small $(BENCH_INPUTS); \
	else \
	    target/release/whyslow-bench run --rounds $(BENCH_ROUNDS) \
	        --into benches/runs/$$(date -u +%Y-%m-%d)-$$(git rev-parse --short=10 HEAD).md $(BENCH_INPUTS); \
	fi

# Hostile inputs, a few MB each, are made and removed under target/growth/.
metamorphic: tools
	METAMORPHIC=all $(CARGO) test --quiet -p whyslow-io --test metamorphic -- --nocapture

growth: tools
	$(CARGO) build --release --quiet -p whyslow -p whyslow-bench
	target/release/whyslow-bench growth $(GROWTH_INPUTS)

# The analysis that is judged was built with the table before: weights and grades do not depend on it.
calibrate: tools
	$(CARGO) build --release --quiet -p whyslow
	@rm -f target/confidence.tsv
	target/release/whyslow lab score --each $(CALIBRATE_EACH) --seed $(CALIBRATE_SEED) --output target/calibrate --calibrate target/confidence.tsv
	target/release/whyslow lab score --real --each $(CALIBRATE_EACH) --seed $(CALIBRATE_SEED) --output target/calibrate --calibrate target/confidence.tsv
	cp target/confidence.tsv crates/whyslow-diagnosis/src/conclude/confidence.tsv

watch-rate: tools
	$(CARGO) build --release --quiet -p whyslow -p whyslow-bench
	target/release/whyslow-bench make bulk connections-1m
	tools/watch-at-rate $(WATCH_RATE)

# One stage at a time, nanoseconds a packet.
stages: tools
	$(CARGO) bench -p whyslow-bench

install: tools page
	$(CARGO) install --locked --path crates/whyslow

gateway: tools
	$(CARGO) install --locked --path crates/whyslow-gateway
