//! The Lua scripts, one static of all: each is in the `.lua` file of its name, which says what it does.

use std::sync::LazyLock;

use super::script::Script;

/// Every script of the gate.
pub(super) struct Scripts {
    pub(super) acknowledge: Script,
    pub(super) apply: Script,
    pub(super) buy: Script,
    pub(super) confirm: Script,
    pub(super) discard: Script,
    pub(super) enqueue: Script,
    pub(super) look: Script,
    pub(super) park: Script,
    pub(super) rebuild_begin: Script,
    pub(super) rebuild_end: Script,
    pub(super) rebuild_mark: Script,
    pub(super) release: Script,
    pub(super) repair_stock: Script,
    pub(super) replay: Script,
    pub(super) repoint: Script,
    pub(super) requeue: Script,
    pub(super) retire: Script,
    pub(super) run_id: Script,
    pub(super) weakness: Script,
}

static SCRIPTS: LazyLock<Scripts> = LazyLock::new(|| Scripts {
    acknowledge: Script::new(include_str!("acknowledge.lua")),
    apply: Script::new(include_str!("apply.lua")),
    buy: Script::new(include_str!("buy.lua")),
    confirm: Script::new(include_str!("confirm.lua")),
    discard: Script::new(include_str!("discard.lua")),
    enqueue: Script::new(include_str!("enqueue.lua")),
    look: Script::new(include_str!("look.lua")),
    park: Script::new(include_str!("park.lua")),
    rebuild_begin: Script::new(include_str!("rebuild_begin.lua")),
    rebuild_end: Script::new(include_str!("rebuild_end.lua")),
    rebuild_mark: Script::new(include_str!("rebuild_mark.lua")),
    release: Script::new(include_str!("release.lua")),
    repair_stock: Script::new(include_str!("repair_stock.lua")),
    replay: Script::new(include_str!("replay.lua")),
    repoint: Script::new(include_str!("repoint.lua")),
    requeue: Script::new(include_str!("requeue.lua")),
    retire: Script::new(include_str!("retire.lua")),
    run_id: Script::new(include_str!("run_id.lua")),
    weakness: Script::new(include_str!("weakness.lua")),
});

impl Scripts {
    pub(super) fn all() -> &'static Self {
        &SCRIPTS
    }
}
