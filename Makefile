# make demo   build, and explain a bundled capture of a slow transfer
# make test   everything that must hold: format, lints, tests, documentation, layers
# make fuzz   hostile input for a minute a target (FUZZ_SECONDS to change that)
# make lab-test  the lab's paths and runs in real namespaces, as root and as an ordinary user (some minutes, an idle machine)
# make install

SAMPLE ?= samples/slow-start-client.pcap
CARGO ?= cargo
FUZZ_SECONDS ?= 60

.PHONY: help demo test lab-test fuzz install tools

help:
	@sed -n 's/^# //p' Makefile

tools:
	@command -v $(CARGO) >/dev/null || { echo "cargo is missing: install Rust 1.95 or later (https://rustup.rs)"; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler is missing: apt-get install gcc"; exit 1; }

demo: tools
	$(CARGO) build --release --quiet -p whyslow
	@echo
	@echo '$$ whyslow $(SAMPLE)'
	@target/release/whyslow $(SAMPLE)

test: tools
	$(CARGO) fmt --all -- --check
	tools/check-layers
	tools/check-layers --prove
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	$(CARGO) test --workspace --exclude whyslow-lab
	$(CARGO) test -p whyslow-lab --lib
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps

lab-test: tools
	$(CARGO) test -p whyslow-lab

fuzz: tools
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test -p whyslow-core --test fuzz -- --test-threads 2

install: tools
	$(CARGO) install --locked --path crates/whyslow
