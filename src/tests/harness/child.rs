//! How other programs are run here: deaf to the terminal, and gone with the one who started them, however that ends.

use std::{ffi::OsStr, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{Child, Command},
};

/// A command that is killed when its [`Child`] is dropped, and by the kernel when this process is killed itself.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--"])
        .arg(program)
        .stdin(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Sends a signal to a child of ours.
pub fn signal(child: &Child, name: &str) {
    signal_to(child.id().expect("the child is running"), name);
}

/// Sends a signal to a process.
pub fn signal_to(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

/// Notes each line that a child writes there.
pub fn listen(
    from: Option<impl AsyncRead + Send + Unpin + 'static>,
    note: impl Fn(String) + Send + 'static,
) {
    let mut lines = BufReader::new(from.expect("it is piped")).lines();
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            note(line);
        }
    });
}
