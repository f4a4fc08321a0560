# The project's commands. `make help` lists them; what they do is in scripts/.

.DEFAULT_GOAL := help
.PHONY: help run build dev test ci fmt lint bench guard torture fuzz setup setup-test clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## install what is missing, build, and start with demo data
	@exec target/release/seckill serve

build: setup ## leave target/release/seckill and target/site
	@scripts/build

dev: setup ## serve, and rebuild whenever a source file changes
	@scripts/dev

test: setup-test ## everything that has to pass: format, lints, all tests, end to end
	@scripts/test

ci: test ## the same

fmt: ## format the Rust sources
	@cargo fmt --all && rustfmt --edition 2024 fuzz/fuzz_targets/*.rs

lint: setup-test ## the lints alone
	@scripts/lint

bench: setup ## measure, and print the figures beside their goals, with the machine's description
	@scripts/bench

guard: setup ## compare ratios with the last ones: has anything become a third slower?
	@scripts/guard

torture: setup ## kill, stop and cut off at random, check the promises: ROUNDS=n SEED=n
	@scripts/torture

fuzz: setup-test ## feed the decoders of forms and queue entries with random bytes: SECONDS_EACH=n
	@scripts/fuzz $(SECONDS_EACH)

setup: ## install what building and running need
	@scripts/setup

setup-test: ## install what the tests need as well
	@scripts/setup --test

clean: ## remove everything that was built
	@rm -rf target fuzz/target end2end/node_modules end2end/test-results end2end/playwright-report
