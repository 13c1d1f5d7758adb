# make demo   build, record a slow transfer on this machine's own TCP stack (or take a bundled one), and explain it
# make test   everything that must hold: format, lints, tests, the lab on this kernel, documentation, layers
# make fuzz   hostile input for a minute a target (FUZZ_SECONDS to change that)
# make install

SAMPLE ?= samples/slow-start-client.pcap
CARGO ?= cargo
FUZZ_SECONDS ?= 60
DEMO = target/demo

.PHONY: help demo test fuzz install tools

help:
	@sed -n 's/^# //p' Makefile

tools:
	@command -v $(CARGO) >/dev/null || { echo "cargo is missing: install Rust 1.95 or later (https://rustup.rs)"; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler is missing: apt-get install gcc"; exit 1; }

demo: tools
	$(CARGO) build --release --quiet -p whyslow
	@rm -rf $(DEMO)
	@echo
	@echo '$$ whyslow lab run slow-start --only country --out $(DEMO)'
	@if target/release/whyslow lab run slow-start --only country --out $(DEMO); then \
	    file=$(DEMO)/slow-start/country-1/client.pcap; \
	else \
	    echo "nothing was recorded here: this is a bundled capture"; file=$(SAMPLE); \
	fi; \
	echo; echo "\$$ whyslow $$file"; target/release/whyslow $$file

# The lab's tests come last, when nothing else runs that would disturb their timing.
test: tools
	$(CARGO) fmt --all -- --check
	tools/check-layers
	tools/check-layers --prove
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps
	$(CARGO) test --workspace --exclude whyslow-lab
	$(CARGO) test -p whyslow-lab

fuzz: tools
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test -p whyslow-core --test fuzz -- --test-threads 2

install: tools
	$(CARGO) install --locked --path crates/whyslow
