# What a developer does, by name. `make` alone lists it.

.DEFAULT_GOAL := help
.PHONY: help tools postgres kafka lint unit test test-n8n simulate fuzz crash hostile workers bench build dist crashable run

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## installs the Rust toolchain that the project names
	scripts/install-tools.sh

postgres: ## installs PostgreSQL for the tests, if it is missing (no service is touched)
	scripts/install-postgres.sh

kafka: ## fetches Kafka for the tests into target/, if it is missing and Maven can (nothing of the system is touched)
	scripts/install-kafka.sh || echo "there is no Kafka: its tests will be skipped" >&2

lint: ## checks format and lints
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings

unit: build crashable ## runs all tests, on SQLite and on PostgreSQL
	cargo test --release --locked --workspace

test: tools postgres kafka lint unit ## everything that a change must pass

test-n8n: build postgres ## installs n8n under target/, 1 GB, and has it work on tasks of a host
	scripts/install-n8n.sh
	cargo test --release --locked --workspace --test workers -- --ignored --nocapture n8n

simulate: tools ## runs 10,000 seeds of hosts that crash (SEEDS=N for more; STEPWELL_SEED=N for one again)
	STEPWELL_SEEDS=$(or $(SEEDS),10000) cargo test --release --locked --workspace --test simulation -- --nocapture

# SEED and CASES say which cases and how many, ONLY which tests.
fuzz: build ## throws 200,000 cases of hostile input at a host (CASES=N, SEED=N, ONLY=name)
	STEPWELL_CASES=$(or $(CASES),200000) STEPWELL_SEED=$(or $(SEED),$(shell date +%s)) \
	  cargo test --release --locked --workspace --test fuzz -- --nocapture $(ONLY)

bench: dist ## runs every measurement of BENCHMARKS.md, for an hour or so (ARGS='--workers 256' for one run of cycles)
	$(if $(ARGS),target/release/stepwell bench external-task $(ARGS),scripts/bench.sh)

crash: build crashable postgres ## kills hosts and databases under load, 20 times in each scenario (KILLS=N; STEPWELL_SEED=N)
	STEPWELL_KILLS=$(or $(KILLS),20) cargo test --release --locked --workspace --test crash -- --nocapture --test-threads=1

hostile: build postgres ## measures how long others wait while a thousand hostile plugins run at once: at most 1.5 times as long
	STEPWELL_HOSTILE=long cargo test --release --locked --workspace --test hostile -- --nocapture --test-threads=1

workers: build postgres ## 64 workers, killed at random, on two hosts: no task has two holders (TASKS=N, 100,000 if absent)
	STEPWELL_TASKS=$(or $(TASKS),100000) cargo test --release --locked --workspace --test workers -- --nocapture no_task

build: tools ## builds the binary, target/release/stepwell
	cargo build --release --locked --workspace --bin stepwell --bin greeting-worker

# The host's code is generated in one piece: minutes more to compile, a fourteenth less processor time.
dist: tools ## builds the binary to ship, target/release/stepwell: the same code, compiled for longer
	cargo build --release --locked --workspace --bin stepwell \
	  --config 'profile.release.package.stepwell.codegen-units=1'

# What it does quickly does not matter; what it takes to compile does.
crashable: tools ## builds the host for crash tests, target/release/stepwell-crash
	cargo build --release --locked --workspace --features stepwell/failpoints --bin stepwell-crash \
	  --config 'profile.release.package.stepwell.opt-level=1'

run: build ## builds, and starts a host on SQLite at 127.0.0.1:8080
	target/release/stepwell serve
