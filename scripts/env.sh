# shellcheck shell=bash disable=SC2034 # what is set here is used where it is sourced
# Sourced by the other scripts: the versions of the tools, the places of things, and the few words all of them use.
# The tools that the project builds for itself live in SECKILL_TOOLS, by version, so that clones share them.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit

WASM_BINDGEN=0.2.130 # must equal the crate's version in Cargo.lock
NODE_AT_LEAST=20     # Playwright and binaryen ask for it
NODE_FROM_NPM=22     # used where the system's Node is older
CARGO_DENY=0.20.2
CARGO_FUZZ=0.13.2

CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}
TOOLS=${SECKILL_TOOLS:-$CARGO_HOME/seckill-tools}
NODE_MODULES=$ROOT/end2end/node_modules
export PATH="$TOOLS/node-$NODE_FROM_NPM/bin:$TOOLS/wasm-bindgen-$WASM_BINDGEN/bin:$CARGO_HOME/bin:$PATH"
export PATH="$TOOLS/cargo-deny-$CARGO_DENY/bin:$TOOLS/cargo-fuzz-$CARGO_FUZZ/bin:$PATH"

# Queries are checked against the committed .sqlx, whatever DATABASE_URL says at run time.
export SQLX_OFFLINE=${SQLX_OFFLINE:-true}

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# The folder of PostgreSQL's server programs, which Debian keeps out of PATH; the newest one.
postgres_bin() {
  local newest
  newest=$(find /usr/lib/postgresql -mindepth 3 -maxdepth 3 -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
  if [[ -n $newest ]]; then
    dirname "$newest"
  elif has initdb; then
    dirname "$(command -v initdb)"
  else
    return 1
  fi
}

# How the browser's part is compiled: `rustup` (its target is installed), `debian` (the standard library is built
# from Debian's source), or `none` yet. SECKILL_WASM chooses one by hand.
wasm_way() {
  if [[ -n ${SECKILL_WASM:-} ]]; then
    echo "$SECKILL_WASM"
  elif [[ -d $(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib ]]; then
    echo rustup
  elif debian_wasm_ready; then
    echo debian
  else
    echo none
  fi
}

debian_wasm_ready() {
  [[ -x /usr/bin/cargo && -x /usr/bin/rustc && -x /usr/bin/wasm-ld-22 && -f /usr/lib/rustlib/src/rust/library/Cargo.toml ]]
}

# A command of cargo for the wasm target, in a target folder of its own so that it does not wait for the server's build.
wasm_cargo() {
  local command=$1
  shift
  if [[ $(wasm_way) == debian ]]; then
    RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 \
      /usr/bin/cargo "$command" --target-dir target/front --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort "$@"
  else
    cargo "$command" --target-dir target/front --target wasm32-unknown-unknown "$@"
  fi
}
