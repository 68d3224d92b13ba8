# What a developer does, by name. `make` alone lists it.

.DEFAULT_GOAL := help
.PHONY: help tools postgres lint unit test simulate bench build run

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## installs the Rust toolchain that the project names
	scripts/install-tools.sh

postgres: ## installs PostgreSQL for the tests, if it is missing (no service is touched)
	scripts/install-postgres.sh

lint: ## checks format and lints
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings

unit: build ## runs all tests, on SQLite and on PostgreSQL
	cargo test --release --locked --workspace

test: tools postgres lint unit ## everything that a change must pass

simulate: tools ## runs 10,000 seeds of hosts that crash (SEEDS=N for more; STEPWELL_SEED=N for one again)
	STEPWELL_SEEDS=$(or $(SEEDS),10000) cargo test --release --locked --workspace --test simulation -- --nocapture

bench: build ## runs every measurement of BENCHMARKS.md, for an hour or so (ARGS='--workers 256' for one run of cycles)
	$(if $(ARGS),target/release/stepwell bench external-task $(ARGS),scripts/bench.sh)

build: tools ## builds the binary, target/release/stepwell
	cargo build --release --locked --workspace --bin stepwell

run: build ## builds, and starts a host on SQLite at 127.0.0.1:8080
	target/release/stepwell serve
